package service

import (
	"io/fs"
	"log/slog"
	"math"
	"os"
	"path"
	"runtime/debug"
	"strconv"
	"strings"
)

// cgroupShare is the part of a cgroup's memory that the host keeps to. The programs in its
// terminals are in the cgroup too, and need the rest.
const cgroupShare = 2

// SetMemoryLimit sets the limit of Go's garbage collector, in bytes: the configured one or, if that
// is 0, GOMEMLIMIT, which the runtime has read, or else the host's share of its cgroup's limit.
func SetMemoryLimit(configured int64, log *slog.Logger) {
	limit := configured
	if limit == 0 && os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	if limit == 0 {
		limit = math.MaxInt64 // none
		if most := cgroupMemory(os.DirFS("/")); most > 0 {
			limit = most / cgroupShare
		}
	}
	if old := debug.SetMemoryLimit(limit); old != limit && limit != math.MaxInt64 {
		log.Info("memory limit", "bytes", limit)
	}
}

// cgroupMemory returns the least memory, in bytes, that a cgroup of this process or one around it
// may have (cgroups(7); cgroup v2's memory.max, v1's memory.limit_in_bytes); 0: there is no limit
// that can be read. root is the root of the file system.
func cgroupMemory(root fs.FS) int64 {
	text, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return 0
	}
	least := int64(0)
	for line := range strings.Lines(string(text)) {
		// ID:CONTROLLERS:PATH; no controllers mean v2.
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(fields) != 3 {
			continue
		}
		top, file := "sys/fs/cgroup", "memory.max"
		switch fields[1] {
		case "":
		case "memory":
			top, file = "sys/fs/cgroup/memory", "memory.limit_in_bytes"
		default:
			continue
		}
		for dir := path.Clean("/" + fields[2]); ; dir = path.Dir(dir) {
			if n := readLimit(root, path.Join(top, dir, file)); n > 0 && (least == 0 || n < least) {
				least = n
			}
			if dir == "/" {
				break
			}
		}
	}
	return least
}

// readLimit returns the limit in a file of a cgroup; 0: none.
func readLimit(root fs.FS, name string) int64 {
	text, err := fs.ReadFile(root, name)
	if err != nil {
		return 0
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	// "max", and with v1 a number near 2^63, mean that there is no limit.
	if err != nil || n > 1<<60 {
		return 0
	}
	return n
}
