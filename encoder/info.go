package encoder

import "fmt"

// Info is what a folder holds, with the names of its fields as documents have them.
type Info struct {
	Tokens      int    `json:"tokens"`     // of the vocabulary
	Rows        int    `json:"rows"`       // vectors: fewer than tokens where some share one
	Dimensions  int    `json:"dimensions"` // of a vector
	Weights     bool   `json:"weights"`    // whether tokens have weights
	Normalize   bool   `json:"normalize"`  // whether vectors of texts have length 1
	MaxTokens   int    `json:"max_tokens"` // that a text is cut to
	ModelBytes  int64  `json:"model_bytes"`
	Fingerprint string `json:"fingerprint"` // the same for encoders that give the same features
}

// Info looks at the whole encoder, which takes as long as Fingerprint.
func (s *Static) Info() Info {
	_, file := s.Compact().Bytes()
	return Info{s.Tokens(), s.Rows(), s.Dim(), s.Weighted(), s.normalize, MaxTokens, file, s.Fingerprint()}
}

// Lines are the facts in words: a name and a value each.
func (i Info) Lines() [][2]string {
	yes := map[bool]string{true: "yes", false: "no"}
	return [][2]string{
		{"tokens", fmt.Sprint(i.Tokens)},
		{"vectors", fmt.Sprint(i.Rows)},
		{"dimensions", fmt.Sprint(i.Dimensions)},
		{"weights", yes[i.Weights]},
		{"normalized", yes[i.Normalize]},
		{"longest text", fmt.Sprintf("%d tokens", i.MaxTokens)},
		{"in a model", fmt.Sprintf("%.1f MB", float64(i.ModelBytes)/1e6)},
		{"fingerprint", i.Fingerprint},
	}
}
