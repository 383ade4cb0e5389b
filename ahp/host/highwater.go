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

const (
	// seqFile holds the high-water mark: a serverSeq that no run has gone beyond.
	seqFile = "serverseq"
	// seqReserve is how far seqFile is ahead of the serverSeq, so that after a host was killed the
	// next one does not begin below what clients have seen. It is more than a host can use up in
	// many times highWaterInterval.
	seqReserve = 1 << 32
	// maxSeq keeps the serverSeq, a JSON number, exact (RFC 8259 section 6).
	maxSeq = 1<<53 - 1
)

// highWater is the serverSeq's high-water mark on disk. It is used by one goroutine at a time: that
// of New, then the janitor's, then that of Shutdown.
type highWater struct {
	dir      string // "": there is no file
	reserved uint64 // what the file holds
}

// begin returns the serverSeq to begin after. It is the time in microseconds, which no run
// overtakes, or the high-water mark, if the clock was set back. An error says that the file could
// not be used: the serverSeq is right all the same, unless the clock was set back or will be.
func (hw *highWater) begin(now time.Time) (uint64, error) {
	first := uint64(max(now.UnixMicro(), 0))
	if hw.dir == "" {
		return first, nil
	}
	b, err := os.ReadFile(filepath.Join(hw.dir, seqFile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return first, fmt.Errorf("host: cannot read the last serverSeq: %w", err)
	default:
		// A damaged file is ignored: the clock alone is right, too, unless it was set back.
		saved, err := strconv.ParseUint(strings.TrimSpace(string(b)), 10, 64)
		if err == nil && saved <= maxSeq-seqReserve {
			first = max(first, saved)
		}
	}
	return first, hw.extend(first)
}

// extend moves the high-water mark ahead if the serverSeq has come near it.
func (hw *highWater) extend(seq uint64) error {
	if hw.dir == "" || hw.reserved > seq+seqReserve/2 {
		return nil
	}
	return hw.save(seq + seqReserve)
}

// end leaves the last serverSeq as the high-water mark.
func (hw *highWater) end(seq uint64) error {
	if hw.dir == "" {
		return nil
	}
	return hw.save(seq)
}

// save writes the file atomically.
func (hw *highWater) save(seq uint64) error {
	name := filepath.Join(hw.dir, seqFile)
	tmp := name + ".new"
	err := os.WriteFile(tmp, []byte(strconv.FormatUint(seq, 10)+"\n"), 0o600)
	if err == nil {
		err = os.Rename(tmp, name)
	}
	if err != nil {
		return fmt.Errorf("host: cannot save the last serverSeq: %w", err)
	}
	hw.reserved = seq
	return nil
}
