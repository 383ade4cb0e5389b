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
	// seqFile holds a serverSeq that no run has gone beyond.
	seqFile = "serverseq"
	// seqReserve is how far ahead of the serverSeq the file is kept, so that a
	// host that is killed does not begin below what clients have seen: more
	// numbers than a host can use within many markIntervals.
	seqReserve = 1 << 32
	// maxSeq keeps the serverSeq, a JSON number, exact (RFC 8259 section 6).
	maxSeq = 1<<53 - 1
)

// seqMark is the serverSeq's high-water mark on disk. It is used by one
// goroutine at a time: New's, the keeper's, Shutdown's.
type seqMark struct {
	dir      string // "": nothing is kept
	reserved uint64 // what the file holds
}

// begin returns the serverSeq to begin after: the time in microseconds, which
// no run outpaces, or the mark of earlier runs where the clock was set back.
func (m *seqMark) begin(now time.Time) (uint64, error) {
	first := uint64(max(now.UnixMicro(), 0))
	if m.dir == "" {
		return first, nil
	}
	b, err := os.ReadFile(filepath.Join(m.dir, seqFile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return 0, fmt.Errorf("host: cannot read the last serverSeq: %w", err)
	default:
		// A torn file is no mark: the clock alone is right unless it was set back.
		saved, err := strconv.ParseUint(strings.TrimSpace(string(b)), 10, 64)
		if err == nil && saved <= maxSeq-seqReserve {
			first = max(first, saved)
		}
	}
	return first, m.extend(first)
}

// extend moves the mark ahead if the serverSeq comes near it.
func (m *seqMark) extend(seq uint64) error {
	if m.dir == "" || m.reserved > seq+seqReserve/2 {
		return nil
	}
	return m.save(seq + seqReserve)
}

// end leaves the last serverSeq as the mark.
func (m *seqMark) end(seq uint64) error {
	if m.dir == "" {
		return nil
	}
	return m.save(seq)
}

// save records the mark, atomically.
func (m *seqMark) save(mark uint64) error {
	name := filepath.Join(m.dir, seqFile)
	tmp := name + ".new"
	err := os.WriteFile(tmp, []byte(strconv.FormatUint(mark, 10)+"\n"), 0o600)
	if err == nil {
		err = os.Rename(tmp, name)
	}
	if err != nil {
		return fmt.Errorf("host: cannot save the last serverSeq: %w", err)
	}
	m.reserved = mark
	return nil
}
