package incidents

import (
	"embed"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
)

//go:embed delegated/log observed/log cronjobs-run/log cronjobs-observed/log
var logs embed.FS

// Names are those of the logs.
var Names = []string{"delegated", "observed", "cronjobs-run", "cronjobs-observed"}

// Write writes the log of a name into a directory that has no log.
func Write(name, dir string) error {
	if !slices.Contains(Names, name) {
		return fmt.Errorf("there is no sample %q; there are %s", name, strings.Join(Names, ", "))
	}
	sub, err := fs.Sub(logs, name+"/log")
	if err != nil {
		return err
	}
	return os.CopyFS(dir, sub)
}
