package service

import (
	"testing"
	"testing/fstest"
)

func TestTheMemoryOfTheCgroup(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	for _, tt := range []struct {
		name  string
		files fstest.MapFS
		want  int64
	}{
		{"no cgroups", fstest.MapFS{}, 0},
		{"v2, its own limit", fstest.MapFS{
			"proc/self/cgroup": file("0::/user.slice/th.service\n"),
			"sys/fs/cgroup/user.slice/th.service/memory.max": file("536870912\n"),
			"sys/fs/cgroup/user.slice/memory.max":            file("max\n"),
		}, 512 << 20},
		{"v2, the limit of one around it", fstest.MapFS{
			"proc/self/cgroup": file("0::/user.slice/th.service\n"),
			"sys/fs/cgroup/user.slice/th.service/memory.max": file("max\n"),
			"sys/fs/cgroup/user.slice/memory.max":            file("1048576\n"),
		}, 1 << 20},
		{"v2, a container", fstest.MapFS{
			"proc/self/cgroup":         file("0::/\n"),
			"sys/fs/cgroup/memory.max": file("268435456\n"),
		}, 256 << 20},
		{"v2, none", fstest.MapFS{
			"proc/self/cgroup":         file("0::/\n"),
			"sys/fs/cgroup/memory.max": file("max\n"),
		}, 0},
		{"v1", fstest.MapFS{
			"proc/self/cgroup": file("5:cpu,cpuacct:/a\n4:memory:/a\n0::/a\n"),
			"sys/fs/cgroup/memory/a/memory.limit_in_bytes": file("1073741824\n"),
			"sys/fs/cgroup/memory/memory.limit_in_bytes":   file("9223372036854771712\n"),
		}, 1 << 30},
		{"nonsense", fstest.MapFS{"proc/self/cgroup": file("x\n0::\n")}, 0},
	} {
		if got := cgroupMemory(tt.files); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
}
