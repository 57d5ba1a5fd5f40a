package cli

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/reconciler"
	"github.com/jobledger/jobledger/reconciler/loop"
)

// version is the version of a release, set by the linker (-X github.com/jobledger/jobledger/cmd/cli.version=v1.2.3). If
// it is empty, the version of the Go module is used.
var version string

// Build describes how this program was built.
type Build struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`
	Date     string `json:"date,omitempty"` // when the commit was made
	Modified bool   `json:"modified,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
	Rules    uint32 `json:"rulesVersion"`
	Format   uint32 `json:"logFormat"`
	Fold     uint32 `json:"foldVersion"`
}

// ThisBuild returns the Build of the running program.
func ThisBuild() Build {
	b := Build{
		Version: version, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH,
		Rules: reconciler.RulesVersion, Format: events.Format, Fold: projector.FoldVersion,
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		if b.Version == "" && info.Main.Version != "(devel)" {
			b.Version = info.Main.Version
		}
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				b.Commit = s.Value
			case "vcs.time":
				b.Date = s.Value
			case "vcs.modified":
				b.Modified = s.Value == "true"
			}
		}
	}
	if b.Version == "" {
		b.Version = "devel"
	}
	return b
}

// ThisIs adds the version of this program to an error about a log that needs a newer program.
func ThisIs(err error) error {
	var newer *events.NewerError
	if errors.As(err, &newer) && newer.Has.Program == "" {
		newer.Has = thisReader()
	}
	return err
}

// thisReader returns the versions of the log format that this program can read.
func thisReader() events.ReaderVersion { return loop.Reader(ThisBuild().Version) }

// String returns the Build as one line.
func (b Build) String() string {
	return fmt.Sprintf("jobledger %s (%s, %s, rules %d, log format %d, fold %d)", b.Version, b.Go, b.Platform, b.Rules, b.Format, b.Fold)
}
