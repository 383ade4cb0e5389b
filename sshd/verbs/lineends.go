package verbs

import (
	"bytes"
	"io"
)

// toCRLF writes text for a terminal in raw mode: \n becomes \r\n.
type toCRLF struct{ w io.Writer }

// Write converts p, which is not kept.
func (w toCRLF) Write(p []byte) (int, error) {
	if _, err := w.w.Write(bytes.ReplaceAll(p, []byte("\n"), []byte("\r\n"))); err != nil {
		return 0, err
	}
	return len(p), nil
}
