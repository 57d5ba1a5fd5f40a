package acting

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/jobledger/jobledger/cmd/cli"
	"github.com/jobledger/jobledger/events/nats"
	"github.com/jobledger/jobledger/events/nats/subscribe"
	"github.com/jobledger/jobledger/internal/say/words"
)

// openState opens the file that remembers the last event that was taken; nil if there is none. If the default file
// cannot be written, as in a pod with a read-only file system, it prints a note, and subscribe works without the file.
func openState(c *cli.CLI, f *subscribeFlags) (*subscribe.StateFile, error) {
	path := f.state
	var err error
	if path == "" {
		if f.durable == "" {
			return nil, nil
		}
		path, err = stateFile(c, f.cluster, f.durable)
	}
	var file *subscribe.StateFile
	if err == nil {
		file, err = subscribe.OpenStateFile(path, f.cluster, f.durable)
	}
	var missing *fs.PathError
	if f.state != "" || err == nil || !errors.As(err, &missing) && !errors.Is(err, errNoHome) {
		return file, err
	}
	fmt.Fprintln(c.Err, "jobledger: "+words.Clean(err.Error())+
		"; so only the server remembers what was taken, as long as it has the stream (--state FILE says where to keep it, too)")
	return nil, nil
}

var errNoHome = errors.New("keep the last event: neither XDG_STATE_HOME nor HOME is set")

// stateFile returns the default path of the file that remembers the last event. It is in the user's state directory, as
// the XDG specification says.
func stateFile(c *cli.CLI, cluster, durable string) (string, error) {
	dir := c.Getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(dir) { // XDG requires an absolute path
		home := c.Getenv("HOME")
		if home == "" {
			return "", errNoHome
		}
		dir = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(dir, "jobledger", "subscribe", nats.Token(cluster)+"."+nats.Token(durable)+".json"), nil
}

// closeState makes the file that remembers the last event durable, and closes it.
func closeState(c *cli.CLI, f *subscribe.StateFile) {
	if f == nil {
		return
	}
	if err := f.Close(); err != nil {
		fmt.Fprintln(c.Err, "jobledger: "+words.Clean(err.Error()))
	}
}
