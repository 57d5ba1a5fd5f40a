package upgrade

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jobledger/jobledger/internal/dev/patience"
	"github.com/jobledger/jobledger/internal/dev/pinned"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/test/internal/controller"
	"github.com/jobledger/jobledger/test/internal/history"
	"github.com/jobledger/jobledger/test/internal/ledger"
	"github.com/jobledger/jobledger/test/internal/suite"
)

var shared suite.Suite

func TestMain(m *testing.M) { shared.Main(m, suite.Options{}) }

// each is the least number of Jobs that end under each program.
const each = 15

// TestProgramsChangeUnderLoad: Jobs are created all the time while the program is replaced: an older one by the present
// one, and that by the older one again, which the log allows. Then, once such a program exists, by one that the log
// does not allow: it says so and changes nothing. No Job is affected. The older program is the oldest that reads what
// the present one writes: that of the commit that last raised projector.LeastFold.
func TestProgramsChangeUnderLoad(t *testing.T) {
	back := pinned.FirstWith(t, fmt.Sprintf("const LeastFold = %d", projector.LeastFold), "projector/check.go")
	older, first := pinned.Build(t, back), ""
	if projector.LeastFold > 1 { // else no program with logs of this format is too old for them
		first = pinned.Build(t, pinned.First(t))
	}
	w := newWorld(t)
	loading, stop := context.WithCancel(w.ctx)
	loaded := make(chan error, 1)
	go func() { loaded <- create(loading, shared.Admin, w.namespace) }() // ends with stop
	defer stop()

	w.runs("the older program", older)
	w.stops()
	w.runs("an upgrade", shared.Program)
	w.stops()
	w.runs("a roll-back", older)
	w.killed()
	w.runs("an upgrade after a crash", shared.Program)
	w.killed()
	if first != "" {
		w.refuses(first)
	}
	w.runs("today's again", shared.Program)
	stop()
	if err := <-loaded; err != nil {
		t.Error(err)
	}
	if err := w.history.Await(w.ctx, unfinished); err != nil {
		t.Fatal(err)
	}
	w.stops()
	book := ledger.Read(ledger.Config{}, w.history.Changes())
	for _, account := range book.Accounts() {
		account.Settle()
	}
	for _, wrong := range book.Violations() {
		t.Error(wrong)
	}
	if err := w.now.Check(w.ctx); err != nil {
		t.Error(err)
	}
	t.Logf("%d Jobs, each with its pods and counts", len(w.history.Now().Jobs))
}

// world is a namespace, its log, and the running program.
type world struct {
	t                          *testing.T
	ctx                        context.Context
	namespace, dir, kubeconfig string
	history                    *history.History
	programs                   int
	now                        *controller.Controller
}

func newWorld(t *testing.T) *world {
	t.Helper()
	ctx, cancel := patience.Several(t.Context(), 2)
	t.Cleanup(cancel)
	w := &world{t: t, ctx: ctx, dir: t.TempDir()}
	var err error
	if w.namespace, err = shared.CreateNamespace(ctx, "upgrade"); err != nil {
		t.Fatal(err)
	}
	if w.kubeconfig, err = controller.NewUser(ctx, shared.ControlPlane, w.namespace, w.namespace, w.dir); err != nil {
		t.Fatal(err)
	}
	if w.history, err = history.Watch(ctx, shared.Admin, w.namespace); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if w.now != nil {
			if err := w.now.Kill(); err != nil {
				t.Error(err)
			}
		}
		cancel()
		w.history.Wait()
	})
	return w
}

// with selects the program that will run on the log.
func (w *world) with(program string) {
	w.t.Helper()
	w.programs++
	dir := filepath.Join(w.dir, fmt.Sprintf("program-%d", w.programs))
	if err := os.Mkdir(dir, 0o700); err != nil {
		w.t.Fatal(err)
	}
	w.now = controller.New(controller.Config{
		Program: program, Kubeconfig: w.kubeconfig, Namespace: w.namespace, Dir: dir, Log: filepath.Join(w.dir, "log"),
	})
}

// runs starts a program, and waits until some Jobs have ended under it.
func (w *world) runs(what, program string) {
	w.t.Helper()
	before := finished(w.history.Now())
	w.with(program)
	if err := w.now.Start(w.ctx); err != nil {
		w.t.Fatalf("%s: %v", what, err)
	}
	err := w.history.Await(w.ctx, func(n history.Now) string {
		if more := finished(n) - before; more < each {
			return fmt.Sprintf("%s: %d Jobs have ended, want %d", what, more, each)
		}
		return ""
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) stops() {
	w.t.Helper()
	if err := w.now.Stop(w.ctx); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) killed() {
	w.t.Helper()
	if err := w.now.Kill(); err != nil {
		w.t.Fatal(err)
	}
}

// refuses starts a program that is too old for the log.
func (w *world) refuses(program string) {
	w.t.Helper()
	w.with(program)
	if err := w.now.Launch(); err != nil {
		w.t.Fatal(err)
	}
	select {
	case <-w.now.Ended():
	case <-w.ctx.Done():
		w.t.Fatal("a program that is too old for the log runs on it")
	}
	err := w.now.Failed()
	out, readErr := w.now.Output()
	if readErr != nil {
		w.t.Fatal(readErr)
	}
	for _, words := range []string{"which needs at least reader v", "or a newer one", "nothing is wrong with the log"} {
		if err == nil || !strings.Contains(out, words) {
			w.t.Errorf("a program that is too old ends with %v and does not say %q:\n%s", err, words, out)
		}
	}
}
