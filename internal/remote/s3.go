package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
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
		MaxRetries: 4, // of each request; Fetch tries each piece again, too
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

func (s s3) write(ctx context.Context, url, file string) error {
	bucket, key := place(url)
	_, err := s.client.FPutObject(ctx, bucket, key, file, minio.PutObjectOptions{PartSize: piece, NumThreads: together, SendContentMd5: true, DisableContentSha256: true})
	return s3Error(err)
}

// s3Error says what an answer of a store means.
func s3Error(err error) error {
	answer, ok := errors.AsType[minio.ErrorResponse](err)
	if !ok {
		return err
	}
	switch {
	case answer.Code == "NoSuchUpload": // as when the answer was lost that it is complete
		return err
	case answer.StatusCode == http.StatusNotFound:
		return final{errors.New("there is no such object, or no such bucket")}
	case answer.StatusCode == http.StatusForbidden || answer.StatusCode == http.StatusUnauthorized:
		return final{fmt.Errorf("no right to it (%s); credentials come from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, ~/.aws/credentials or the role of the machine", cmp.Or(answer.Code, "forbidden"))}
	case answer.StatusCode == http.StatusPreconditionFailed:
		return final{errors.New("it was replaced while it was read; start again")}
	case answer.StatusCode >= 500 || answer.StatusCode == http.StatusTooManyRequests:
		return err
	}
	return final{err}
}
