package dataset

import (
	"github.com/treeloss/treeloss/dataset/internal/pickle"
	"github.com/treeloss/treeloss/internal/input"
)

// fromPickle takes the Python form: a dict with data, an array of rows of 3,072
// bytes, and the lists fine_labels and coarse_labels.
func (s *Images) fromPickle(path string, data []byte) error {
	d, err := loadDict(path, data)
	if err != nil {
		return err
	}
	a, ok := d["data"].(*pickle.Array)
	if !ok || len(a.Shape) != 2 || a.Shape[1] != cifarPixels {
		return input.Refuse(path, 0, 0, "no array data of rows of %d bytes; want the file train or test of cifar-100-python", cifarPixels)
	}
	rows := a.Shape[0]
	if s.Label, ok = numbers(d["fine_labels"]); !ok || len(s.Label) != rows {
		return input.Refuse(path, 0, 0, "%d fine_labels for %d pictures, want as many", len(s.Label), rows)
	}
	if rows == 0 {
		return input.Refuse(path, 0, 0, "no pictures")
	}
	if d["coarse_labels"] != nil {
		if s.Coarse, ok = numbers(d["coarse_labels"]); !ok || len(s.Coarse) != rows {
			return input.Refuse(path, 0, 0, "%d coarse_labels for %d pictures, want as many", len(s.Coarse), rows)
		}
	}
	for i := range rows {
		s.addPlanes(a.Data[i*cifarPixels : (i+1)*cifarPixels])
	}
	return nil
}

// namesFromPickle reads the pickle meta.
func namesFromPickle(path string, data []byte) (classes, groups []string, err error) {
	d, err := loadDict(path, data)
	if err != nil {
		return nil, nil, err
	}
	var ok bool
	if classes, ok = texts(d["fine_label_names"]); !ok {
		return nil, nil, input.Refuse(path, 0, 0, "no list fine_label_names; want the file meta of cifar-100-python")
	}
	groups, _ = texts(d["coarse_label_names"])
	return classes, groups, nil
}

func loadDict(path string, data []byte) (pickle.Dict, error) {
	v, err := pickle.Load(data)
	if err != nil {
		return nil, &Error{File: path, Message: err.Error(), Err: err}
	}
	d, ok := v.(pickle.Dict)
	if !ok {
		return nil, input.Refuse(path, 0, 0, "a pickle of %T, want a dict as in cifar-100-python", v)
	}
	return d, nil
}

func numbers(v any) ([]int32, bool) {
	l, ok := v.(*pickle.List)
	if !ok {
		return nil, false
	}
	out := make([]int32, len(l.Items))
	for i, item := range l.Items {
		n, ok := item.(int)
		if !ok || n < 0 || n > 1<<20 {
			return nil, false
		}
		out[i] = int32(n)
	}
	return out, true
}

func texts(v any) ([]string, bool) {
	l, ok := v.(*pickle.List)
	if !ok {
		return nil, false
	}
	out := make([]string, len(l.Items))
	for i, item := range l.Items {
		if out[i], ok = item.(string); !ok {
			return nil, false
		}
	}
	return out, true
}
