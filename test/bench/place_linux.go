package bench

import (
	"errors"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// halves divides the processors of this process: the first half is for the server and the bench, the second for the
// compared controllers.
func halves() (server, contender unix.CPUSet, err error) {
	var all unix.CPUSet
	if err := unix.SchedGetaffinity(0, &all); err != nil {
		return server, contender, fmt.Errorf("read on which processors we run: %w", err)
	}
	if all.Count() < 2 {
		return server, contender, errors.New("one processor has no halves: use the place same")
	}
	for cpu, seen := 0, 0; seen < all.Count(); cpu++ {
		if !all.IsSet(cpu) {
			continue
		}
		if seen < all.Count()/2 {
			server.Set(cpu)
		} else {
			contender.Set(cpu)
		}
		seen++
	}
	return server, contender, nil
}

// pin restricts a process, and all that it starts later, to some processors. A thread that is created meanwhile may
// escape. So pin repeats until it finds only restricted threads.
func pin(pid int, to unix.CPUSet) error {
	for again := true; again; {
		again = false
		threads, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
		if err != nil {
			return fmt.Errorf("list the threads of process %d: %w", pid, err)
		}
		for _, t := range threads {
			id, err := strconv.Atoi(t.Name())
			if err != nil {
				continue
			}
			var is unix.CPUSet
			if err := unix.SchedGetaffinity(id, &is); errors.Is(err, unix.ESRCH) || err == nil && is == to {
				continue
			}
			again = true
			if err := unix.SchedSetaffinity(id, &to); err != nil && !errors.Is(err, unix.ESRCH) {
				return fmt.Errorf("choose the processors of process %d: %w", pid, err)
			}
		}
	}
	return nil
}

// divide moves this process to the first half of the processors; the control plane, which it starts later, stays there,
// too. It returns a function that moves another process to the second half.
func divide() (pinned func(pid int) error, err error) {
	server, contender, err := halves()
	if err != nil {
		return nil, err
	}
	if err := pin(os.Getpid(), server); err != nil {
		return nil, err
	}
	return func(pid int) error { return pin(pid, contender) }, nil
}
