package memory

import (
	"testing"
	"testing/fstest"
)

func TestCgroupLimit(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	for _, tc := range []struct {
		name string
		fs   fstest.MapFS
		want int64
	}{
		{"no cgroups", fstest.MapFS{}, 0},
		{"cgroup 2 in a container", fstest.MapFS{"proc/self/cgroup": file("0::/\n"), "sys/fs/cgroup/memory.max": file("2147483648\n")}, 2 << 30},
		{"cgroup 2 without limit", fstest.MapFS{"proc/self/cgroup": file("0::/a\n"), "sys/fs/cgroup/a/memory.max": file("max\n")}, 0},
		{"the parent has the least", fstest.MapFS{
			"proc/self/cgroup":                  file("0::/user/app\n"),
			"sys/fs/cgroup/user/memory.max":     file("1000\n"),
			"sys/fs/cgroup/user/app/memory.max": file("5000\n")}, 1000},
		{"cgroup 1 among other controllers", fstest.MapFS{
			"proc/self/cgroup":                                      file("12:cpu,cpuacct:/x\n5:memory:/docker/abc\n1:name=systemd:/y\n"),
			"sys/fs/cgroup/memory/memory.limit_in_bytes":            file("9223372036854771712\n"),
			"sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes": file("536870912\n")}, 512 << 20},
		{"the folder of another namespace", fstest.MapFS{"proc/self/cgroup": file("0::/docker/abc\n"), "sys/fs/cgroup/memory.max": file("4096\n")}, 4096},
	} {
		if got := cgroupLimit(tc.fs); got != tc.want {
			t.Errorf("%s: %d, want %d", tc.name, got, tc.want)
		}
	}
}
