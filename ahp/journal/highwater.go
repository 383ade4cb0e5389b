package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"termhost/ptypool/statefile"
)

const (
	// seqFile holds the high-water mark: a serverSeq that no run has gone beyond.
	seqFile = "serverseq"
	// seqReserve is how far seqFile is ahead of the serverSeq, so that the next host of one that
	// was killed does not begin below what clients have seen. A host cannot use it up in many times
	// the interval at which it is extended.
	seqReserve = 1 << 32
	// maxSeq keeps the serverSeq, a JSON number, exact (RFC 8259 section 6).
	maxSeq = 1<<53 - 1
)

// HighWater is the serverSeq's high-water mark on disk. Its methods must not be called
// concurrently.
type HighWater struct {
	Dir      string // the state folder; "": there is no file
	reserved uint64 // what the file holds
}

// Begin returns the serverSeq after which to begin: the time in microseconds, which no host
// overtakes, or the high-water mark if the clock was set back. After an error, when the file could
// not be used, the serverSeq is still right unless the clock was or will be set back.
func (hw *HighWater) Begin(now time.Time) (uint64, error) {
	first := uint64(max(now.UnixMicro(), 0))
	if hw.Dir == "" {
		return first, nil
	}
	b, err := statefile.Read(filepath.Join(hw.Dir, seqFile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return first, fmt.Errorf("journal: cannot read the last serverSeq: %w", err)
	default:
		saved, err := strconv.ParseUint(strings.TrimSpace(string(b)), 10, 64)
		if err != nil || saved > maxSeq-seqReserve {
			damaged := fmt.Errorf("journal: the last serverSeq, in %s, is damaged", seqFile)
			return first, errors.Join(damaged, hw.Extend(first))
		}
		first = max(first, saved)
	}
	return first, hw.Extend(first)
}

// Extend moves the high-water mark ahead if the serverSeq has come near it.
func (hw *HighWater) Extend(seq uint64) error {
	if hw.Dir == "" || hw.reserved > seq+seqReserve/2 {
		return nil
	}
	return hw.save(seq + seqReserve)
}

// End leaves the last serverSeq as the high-water mark.
func (hw *HighWater) End(seq uint64) error {
	if hw.Dir == "" {
		return nil
	}
	return hw.save(seq)
}

func (hw *HighWater) save(seq uint64) error {
	text := strconv.AppendUint(nil, seq, 10)
	err := statefile.Replace(filepath.Join(hw.Dir, seqFile), append(text, '\n'))
	if err != nil {
		return fmt.Errorf("journal: cannot save the last serverSeq: %w", err)
	}
	hw.reserved = seq
	return nil
}
