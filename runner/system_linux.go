package runner

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"syscall"

	"perch.example/probes"
)

func hostSystem() system {
	return system{open: func(name string) (fs.File, error) { return os.Open(name) }, descriptors: descriptors}
}

// descriptors counts this process's open file descriptors against its limit.
func descriptors() probes.Usage {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil || limit.Cur == 0 || limit.Cur > math.MaxInt32 {
		return probes.Usage{}
	}
	used, err := openFiles("/proc/self/fd")
	switch {
	case errors.Is(err, syscall.EMFILE):
		used = int(limit.Cur) // not even one to count them with
	case err != nil:
		return probes.Usage{}
	}
	// Those that were open before the limit was set may lie above it.
	return probes.Usage{Used: min(used, int(limit.Cur)), Limit: int(limit.Cur)}
}

// openFiles counts the entries of a process's fd folder: Linux 6.2 gives their
// number as the folder's size, which takes no descriptor.
func openFiles(folder string) (int, error) {
	if info, err := os.Stat(folder); err == nil && info.Size() > 0 {
		return int(info.Size()), nil
	}
	return openNames(folder)
}

// openNames counts the names in this process's own fd folder, of which one is
// what it is read through.
func openNames(folder string) (int, error) {
	f, err := os.Open(folder)
	if err != nil {
		return 0, err
	}
	defer func() { _ = f.Close() }() // it was only read
	names, err := f.Readdirnames(-1)
	return max(0, len(names)-1), err
}
