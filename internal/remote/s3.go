package remote

import (
	"cmp"
	"context"
	"crypto/md5"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"golang.org/x/sync/errgroup"
)

// s3 is an object store with the interface of Amazon S3.
type s3 struct{ client *minio.Core }

// newS3 takes what the tools of Amazon take: credentials from AWS_ACCESS_KEY_ID and
// AWS_SECRET_ACCESS_KEY, from the profile AWS_PROFILE of ~/.aws/credentials, or from the
// role of the machine or pod; AWS_REGION; and AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL for
// another server.
func newS3(getenv func(string) string) (store, error) {
	host, secure := "s3.amazonaws.com", true
	if endpoint := cmp.Or(getenv("AWS_ENDPOINT_URL_S3"), getenv("AWS_ENDPOINT_URL")); endpoint != "" {
		u, err := url.Parse(endpoint)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return nil, final{fmt.Errorf("AWS_ENDPOINT_URL is %q, want a URL such as https://s3.example.org", endpoint)}
		}
		host, secure = u.Host, u.Scheme == "https"
	}
	client, err := minio.NewCore(host, &minio.Options{
		Creds:      credentials.NewChainCredentials([]credentials.Provider{&credentials.EnvAWS{}, &credentials.FileAWSCredentials{}, &credentials.IAM{}}),
		Secure:     secure,
		Region:     cmp.Or(getenv("AWS_REGION"), getenv("AWS_DEFAULT_REGION"), "us-east-1"),
		MaxRetries: 1, // what is tried again here has a reader of its own
	})
	return s3{client}, err
}

// place returns the bucket and the key of a URL.
func place(url string) (bucket, key string) {
	bucket, key, _ = strings.Cut(strings.TrimPrefix(url, "s3://"), "/")
	return bucket, key
}

func (s s3) stat(ctx context.Context, url string) (object, error) {
	bucket, key := place(url)
	info, err := s.client.StatObject(ctx, bucket, key, minio.StatObjectOptions{})
	return object{url, info.Size, info.ETag, true}, s3Error(err)
}

func (s s3) read(ctx context.Context, o object, from, length int64) (io.ReadCloser, error) {
	var opts minio.GetObjectOptions
	if o.version != "" {
		if err := opts.SetMatchETag(o.version); err != nil {
			return nil, err
		}
	}
	if length == 0 {
		return http.NoBody, nil
	}
	if err := opts.SetRange(from, from+length-1); err != nil {
		return nil, err
	}
	bucket, key := place(o.url)
	body, _, _, err := s.client.GetObject(ctx, bucket, key, opts)
	return body, s3Error(err)
}

func (s s3) list(ctx context.Context, folder string) ([]object, error) {
	bucket, prefix := place(folder)
	var all []object
	for info := range s.client.Client.ListObjects(ctx, bucket, minio.ListObjectsOptions{Prefix: prefix, Recursive: true}) {
		if info.Err != nil {
			return nil, s3Error(info.Err)
		}
		if !strings.HasSuffix(info.Key, "/") { // which some programs write to show a folder
			all = append(all, object{"s3://" + bucket + "/" + info.Key, info.Size, info.ETag, true})
		}
	}
	return all, nil
}

// parts is the most that S3 takes of an upload.
const parts = 10_000

// write sends a file in pieces. Each attempt has a reader of its own, as a connection that
// broke may still read from that of the last. Sums let the store refuse what is damaged on
// the way.
func (s s3) write(ctx context.Context, url, file string) error {
	in, err := os.Open(file)
	if err != nil {
		return final{err}
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return final{err}
	}
	bucket, key := place(url)
	size := info.Size()
	if size <= piece {
		sum, err := md5Of(in, 0, size)
		if err != nil {
			return final{err}
		}
		_, err = s.client.PutObject(ctx, bucket, key, io.NewSectionReader(in, 0, size), size, sum, "", minio.PutObjectOptions{DisableContentSha256: true})
		return s3Error(err)
	}
	var upload string
	err = again(ctx, func() error {
		upload, err = s.client.NewMultipartUpload(ctx, bucket, key, minio.PutObjectOptions{})
		return s3Error(err)
	})
	if err != nil {
		return err
	}
	each := max(piece, (size+parts-1)/parts)
	done := make([]minio.CompletePart, (size+each-1)/each)
	work, working := errgroup.WithContext(ctx)
	work.SetLimit(together)
	for i := range done {
		work.Go(func() error {
			from := int64(i) * each
			length := min(each, size-from)
			sum, err := md5Of(in, from, length)
			if err != nil {
				return final{err}
			}
			return again(working, func() error {
				part, err := s.client.PutObjectPart(working, bucket, key, upload, i+1, io.NewSectionReader(in, from, length), length, minio.PutObjectPartOptions{Md5Base64: sum, DisableContentSha256: true})
				done[i] = minio.CompletePart{PartNumber: i + 1, ETag: part.ETag}
				return s3Error(err)
			})
		})
	}
	if err = work.Wait(); err == nil {
		asked := false
		err = again(ctx, func() error {
			_, err := s.client.CompleteMultipartUpload(ctx, bucket, key, upload, done, minio.PutObjectOptions{})
			if answer, ok := errors.AsType[minio.ErrorResponse](err); ok && answer.Code == "NoSuchUpload" && asked {
				// The upload is complete, and the answer that says so was lost.
				o, err := s.stat(ctx, url)
				if err == nil && o.bytes != size {
					err = final{errors.New("another object was written at the same time; start again")}
				}
				return err
			}
			asked = true
			return s3Error(err)
		})
	}
	if err != nil { // parts that lie about are paid for
		_ = s.client.AbortMultipartUpload(context.WithoutCancel(ctx), bucket, key, upload)
	}
	return err
}

// md5Of returns the sum of a piece of a file as the header Content-MD5 has it.
func md5Of(in io.ReaderAt, from, length int64) (string, error) {
	sum := md5.New()
	_, err := io.Copy(sum, io.NewSectionReader(in, from, length))
	return base64.StdEncoding.EncodeToString(sum.Sum(nil)), err
}

// s3Error says what an answer of a store means.
func s3Error(err error) error {
	answer, ok := errors.AsType[minio.ErrorResponse](err)
	if !ok {
		return err
	}
	switch {
	case answer.StatusCode == http.StatusNotFound:
		return final{errors.New("there is no such object, or no such bucket")}
	case answer.StatusCode == http.StatusForbidden || answer.StatusCode == http.StatusUnauthorized:
		return final{fmt.Errorf("no right to it (%s); credentials come from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, ~/.aws/credentials or the role of the machine", cmp.Or(answer.Code, "forbidden"))}
	case answer.StatusCode == http.StatusPreconditionFailed:
		return final{errors.New("it was replaced while it was read; start again")}
	case answer.Code == "BadDigest" || answer.StatusCode >= 500 || answer.StatusCode == http.StatusTooManyRequests:
		return err
	}
	return final{err}
}
