package keys

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

const (
	// restTime is how long a file must not have changed before it is read: an editor or a script
	// that rewrites a file empties it first, and an empty file would end all connections.
	restTime = 200 * time.Millisecond
	// maxRests bounds the waits. A removed key must not stay in force because of constant writes.
	maxRests = 5
)

// AtRest waits until none of the files has changed in the last 200 ms, for a second at most.
func AtRest(paths ...string) {
	_ = atRest(context.Background(), restTime, paths) // which does not end
}

// atRest waits until the files have not changed for rest, but at most maxRests times. It returns
// the cause if ctx ends.
func atRest(ctx context.Context, rest time.Duration, paths []string) error {
	for range maxRests {
		wait := time.Duration(0)
		for _, path := range paths {
			if age, ok := sinceChange(path); ok {
				wait = max(wait, rest-age)
			}
		}
		if wait <= 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(wait):
		}
	}
	return nil
}

// isFresh reports whether path has changed so recently that another change might not change its
// times: their granularity is the kernel's tick (at most 10 ms) or, on old file systems, two
// seconds.
func isFresh(path string) bool {
	const freshFor = 2 * time.Second
	age, ok := sinceChange(path)
	return ok && age < freshFor
}

// sinceChange returns how long ago path has changed, in its content or otherwise. If it is missing,
// it has changed with the folder that it was in. Without that folder ok is false.
func sinceChange(path string) (age time.Duration, ok bool) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		info, err = os.Stat(filepath.Dir(path))
	}
	if err != nil {
		return 0, false
	}
	changed := info.ModTime()
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		if c := time.Unix(int64(st.Ctim.Sec), int64(st.Ctim.Nsec)); c.After(changed) {
			changed = c
		}
	}
	return time.Since(changed).Abs(), true
}
