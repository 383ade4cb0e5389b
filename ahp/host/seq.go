package host

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// seqFile holds the serverSeq's high-water mark of earlier runs.
const seqFile = "serverseq"

// firstSeq returns the serverSeq to begin after: the time in microseconds, which
// no run outpaces, or what an earlier run reached where the clock was set back.
func firstSeq(dir string, now time.Time) (uint64, error) {
	first := uint64(now.UnixMicro())
	if dir == "" {
		return first, nil
	}
	b, err := os.ReadFile(filepath.Join(dir, seqFile))
	if errors.Is(err, fs.ErrNotExist) {
		return first, nil
	}
	if err != nil {
		return 0, fmt.Errorf("host: cannot read the last serverSeq: %w", err)
	}
	saved, err := strconv.ParseUint(strings.TrimSpace(string(b)), 10, 53) // JSON numbers are exact below 2^53
	if err != nil {
		return first, nil // a torn file: the clock alone is right unless it was set back
	}
	return max(first, saved), nil
}

// saveSeq records the mark, atomically.
func saveSeq(dir string, seq uint64) error {
	if dir == "" {
		return nil
	}
	name := filepath.Join(dir, seqFile)
	tmp := name + ".new"
	if err := os.WriteFile(tmp, []byte(strconv.FormatUint(seq, 10)+"\n"), 0o600); err != nil {
		return fmt.Errorf("host: cannot save the last serverSeq: %w", err)
	}
	if err := os.Rename(tmp, name); err != nil {
		return fmt.Errorf("host: cannot save the last serverSeq: %w", err)
	}
	return nil
}
