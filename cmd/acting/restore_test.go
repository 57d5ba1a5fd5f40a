package acting

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/jobledger/jobledger/cmd/cli"
	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/run/restore"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/copylog"
)

// TestAnOldPointIsAWarning: if a restored log ends more than an hour before its copy, a warning says that the cluster
// went on since.
func TestAnOldPointIsAWarning(t *testing.T) {
	end := events.At(time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC))
	for _, row := range []struct {
		before time.Duration
		warns  string
	}{{time.Hour, ""}, {time.Hour + time.Second, "it ends 1h before the copy does"}, {26 * time.Hour, "it ends 26h before the copy does"}} {
		var out bytes.Buffer
		plan := &restore.Plan{Copy: &copylog.Manifest{Head: store.Head{Sequence: 70, Time: end}}, Config: restore.Config{Dir: "then"}}
		tellNext(&cli.CLI{Out: &out}, plan, restore.Result{Short: true, Head: store.Head{Sequence: 60, Time: end.Add(-row.before)}})
		text := out.String()
		if warned := strings.Contains(text, "before the copy does"); warned != (row.warns != "") || !strings.Contains(text, row.warns) {
			t.Errorf("%s: %s", row.before, text)
		}
		if !strings.HasSuffix(text, "jobledger run --log then --force-new-epoch=1\n") {
			t.Errorf("it does not end with the command to go on with: %s", text)
		}
	}
}
