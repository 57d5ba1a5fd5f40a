// Command biglog writes a log of any size, as a controller would: the real loop decides, on a simulated cluster. Of
// 1,000 Jobs, 985 run one pod, and a tenth of these fail for good. The others run up to 1,000 pods. The times of
// readers in docs/performance.md were measured on such a log.
//
//	go run ./cmd/biglog --log /var/tmp/big
//	go run ./cmd/biglog --log /var/tmp/crashed --records 1000000 --crash
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/jobledger/jobledger/internal/dev/sim/joblog"
	"github.com/jobledger/jobledger/internal/read/joblist"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/open"
)

func main() {
	os.Exit(run(os.Args[1:]))
}

// Exit statuses of the command.
const (
	exitFailed = 1
	exitUsage  = 2
)

// choices holds the values of the flags, which say how large the log is to be.
type choices struct {
	dir       string
	records   int
	fileBytes int64
	waiting   int
	finished  int
	seed      uint64
	crash     bool
}

func run(args []string) int {
	var c choices
	flags := flag.NewFlagSet("biglog", flag.ContinueOnError)
	flags.StringVar(&c.dir, "log", "", "directory of the log, which is made")
	flags.IntVar(&c.records, "records", 10_000_000, "records to write, at least")
	flags.Int64Var(&c.fileBytes, "file-bytes", 0, "size at which a file is sealed (default: as a controller has it)")
	flags.IntVar(&c.waiting, "waiting", 500, "Jobs that are alive from the beginning to the end")
	flags.IntVar(&c.finished, "finished", 2000, "Jobs that are finished and not deleted")
	flags.Uint64Var(&c.seed, "seed", 1, "another seed makes another log")
	flags.BoolVar(&c.crash, "crash", false, "end without closing the log, as a process that is killed")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil || flags.NArg() > 0 || c.dir == "":
		fmt.Fprintln(os.Stderr, "biglog: say where the log is to be: --log DIR (see --help)")
		return exitUsage
	}
	if err := c.write(context.Background()); err != nil {
		fmt.Fprintf(os.Stderr, "biglog: %v\n", err)
		return exitFailed
	}
	return 0
}

// write writes the log, a snapshot at its end, and the lists of its Jobs, as a controller does.
func (c *choices) write(ctx context.Context) error {
	if there, err := open.Exists(c.dir); err != nil || there {
		return errors.Join(err, fmt.Errorf("there is a log in %s, or it cannot be read", c.dir))
	}
	begin := time.Now()
	log, err := open.Log(c.dir, store.Options{RotateBytes: c.fileBytes})
	if err != nil {
		return err
	}
	l, err := joblog.Write(log, joblog.Config{
		Seed: c.seed, Records: c.records, Running: 200, Finished: c.finished, Waiting: c.waiting, Single: 985,
	})
	if err != nil {
		return errors.Join(err, log.Close())
	}
	fmt.Fprintf(os.Stderr, "biglog: %d records after %s\n", l.World().Head, time.Since(begin).Round(time.Second))
	l.Snapshot()
	if snapshot, ok := l.TakeSnapshot(); ok {
		err = log.SaveSnapshot(ctx, snapshot)
	}
	keeper := joblist.NewKeeper(joblist.Config{Log: log, Files: store.FilesOf(log), Dir: c.dir}, nil)
	if c.crash {
		if err = errors.Join(err, keeper.CatchUp(ctx)); err != nil {
			return errors.Join(err, log.Close())
		}
		return nil // end without closing the log, as if the process had crashed
	}
	return errors.Join(err, keeper.Finish(ctx), log.Close())
}
