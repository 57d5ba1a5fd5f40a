// Package recorded stores the log of a recording, as small as possible: it seals and packs the log's files, and removes
// the files that only a running controller needs.
package recorded

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"go.etcd.io/bbolt"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/jobledger/jobledger/events"
	inprocess "github.com/jobledger/jobledger/internal/run/controller"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/open"
)

// fileBytes is the size at which a file of the log is sealed. The default, 256 MiB, is larger than any recording.
const fileBytes = 32 << 10

// Keep seals and packs the log of a controller that has stopped, as a controller does with a full file. Then it copies
// the log to the directory to, in place of an older copy. The copy lacks the files about the process that wrote the
// log. kubeconfig and settings are those of the controller. The cluster must not have Jobs any more.
func Keep(ctx context.Context, from, kubeconfig string, settings *events.Settings, to string) error {
	if err := seal(ctx, from, kubeconfig, settings); err != nil {
		return fmt.Errorf("seal %s: %w", from, err)
	}
	if err := pack(ctx, from); err != nil {
		return fmt.Errorf("pack %s: %w", from, err)
	}
	if err := trim(from); err != nil {
		return fmt.Errorf("trim %s: %w", from, err)
	}
	if err := os.RemoveAll(to); err != nil {
		return err
	}
	// Leave out these files (lock, address, key): they are only for a process that writes the log.
	for _, name := range []string{"LOCK", "SERVER", "KEY"} {
		if err := os.Remove(filepath.Join(from, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return os.CopyFS(to, os.DirFS(from))
}

// seal runs the controller once more, in this process, so that it completes (seals) the newest file. It sets a small
// limit for the size of files, for which the program has no flag. The controller finds an empty cluster and a full
// file, and begins the next file.
func seal(ctx context.Context, dir, kubeconfig string, settings *events.Settings) error {
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(
		&clientcmd.ClientConfigLoadingRules{ExplicitPath: kubeconfig}, nil)
	cluster, err := inprocess.Connect(loader, "devel")
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() { // this goroutine ends when ctx ends
		ended <- inprocess.Run(ctx, &inprocess.Config{
			Log: dir, Settings: *settings, Cluster: cluster, Program: inprocess.Program{Version: "devel"}, Logger: slog.New(slog.DiscardHandler),
			Stop: 20 * time.Second, Patience: 2 * time.Minute, RotateBytes: fileBytes,
		})
	}()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case err := <-ended:
			return errors.Join(errors.New("the controller ended before it began a file"), err)
		case <-tick.C:
		}
		if files, err := filepath.Glob(filepath.Join(dir, "*.db")); err != nil || len(files) > 1 {
			stop()
			return errors.Join(err, <-ended)
		}
	}
}

// pack compresses the complete (sealed) files of the log.
func pack(ctx context.Context, dir string) (err error) {
	log, err := open.Log(dir, store.Options{RotateBytes: fileBytes})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	tended, ok := log.(store.Tended)
	if !ok {
		return errors.New("pack: the log has no files")
	}
	for {
		first, err := tended.Pack(ctx)
		if err != nil || first == 0 {
			return err
		}
	}
}

// trim removes the free pages of the log's newest file. A controller reserves some 20 MB there, so that it never has to
// wait for space.
func trim(dir string) (err error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.db"))
	if err != nil || len(files) == 0 {
		return errors.Join(errors.New("no file"), err)
	}
	newest := files[len(files)-1] // the last name: a file is named by the number of its first record
	from, err := bbolt.Open(newest, 0o600, &bbolt.Options{ReadOnly: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	to, err := bbolt.Open(newest+".trimmed", 0o600, nil)
	if err != nil {
		return err
	}
	if err := errors.Join(bbolt.Compact(to, from, 0), to.Close()); err != nil {
		return err
	}
	return os.Rename(newest+".trimmed", newest)
}
