package memory

import (
	"io/fs"
	"math"
	"os"
	"path"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

func machine() int64 {
	limits := []int64{cgroupLimit(os.DirFS("/"))}
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) == nil {
		limits = append(limits, int64(uint64(info.Totalram)*uint64(info.Unit)))
	}
	var space unix.Rlimit // ulimit -v, which batch systems set
	if unix.Getrlimit(unix.RLIMIT_AS, &space) == nil && space.Cur < math.MaxInt64 {
		limits = append(limits, int64(space.Cur))
	}
	least := int64(0)
	for _, n := range limits {
		if n > 0 && (least == 0 || n < least) {
			least = n
		}
	}
	return least
}

// cgroupLimit returns the least memory limit of the control groups that this
// process is in, 0 if there is none. A group's limit also holds for those within
// it, so all groups on the way to the root count. Within a container the root of
// its own groups is all that is seen.
func cgroupLimit(root fs.FS) int64 {
	groups, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return 0
	}
	least := int64(0)
	for line := range strings.Lines(string(groups)) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3) // number:controllers:path
		if len(fields) < 3 {
			continue
		}
		folder, file := "sys/fs/cgroup", "memory.max"
		switch {
		case fields[1] == "": // cgroup 2
		case strings.Contains(","+fields[1]+",", ",memory,"):
			folder, file = "sys/fs/cgroup/memory", "memory.limit_in_bytes"
		default:
			continue
		}
		for at := path.Join("/", fields[2]); ; at = path.Dir(at) {
			text, err := fs.ReadFile(root, path.Join(folder, at, file))
			// "max", or in cgroup 1 a number near 2^63, is no limit: neither parses to
			// less than what the machine has.
			if n, bad := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil && bad == nil && n > 0 && (least == 0 || n < least) {
				least = n
			}
			if at == "/" {
				break
			}
		}
	}
	return least
}
