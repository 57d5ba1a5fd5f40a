package browser

import (
	"bufio"
	"cmp"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/jobledger/jobledger/internal/dev/patience"
	"github.com/jobledger/jobledger/test/binaries"
	"github.com/jobledger/jobledger/test/internal/built"
	"github.com/jobledger/jobledger/test/internal/child"
)

// demanded, if set, makes a missing browser a failure, and checks all pages in all widths and themes, which takes
// minutes.
const demanded = "JOBLEDGER_BROWSER"

// whole skips a long test unless demanded is set.
func whole(t *testing.T) {
	t.Helper()
	if os.Getenv(demanded) == "" {
		t.Skip("takes a minute: make test-browser")
	}
}

var program string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "jobledger-browser-")
	if err != nil {
		panic(err)
	}
	if program, err = built.Program(context.Background(), dir); err != nil {
		panic(err)
	}
	status := m.Run()
	if err := os.RemoveAll(dir); err != nil {
		panic(err)
	}
	os.Exit(status)
}

// chromium returns the path of the browser. Without one the test is skipped.
func chromium(t *testing.T) string {
	t.Helper()
	named := cmp.Or(os.Getenv("JOBLEDGER_CHROMIUM"), "chromium")
	for _, name := range []string{named, "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	const lacks = "there is no Chromium here, so the pages were not looked at: " +
		"install Debian's package chromium, or name one by $JOBLEDGER_CHROMIUM"
	if os.Getenv(demanded) != "" {
		t.Fatal(lacks)
	}
	t.Skip(lacks)
	return ""
}

// visitor is a person with a browser who reads the pages of one log.
type visitor struct {
	t    *testing.T
	ctx  context.Context // of the tab
	home string          // address of the first page, without the secret
	said []string        // errors of the console
}

// visit opens the pages of recorded incidents, by their name under examples/incidents.
func visit(t *testing.T, sample string) *visitor {
	t.Helper()
	v := open(t)
	v.arrive(show(t, "--sample="+sample))
	return v
}

// arrive opens the address that "jobledger ui" prints.
func (v *visitor) arrive(address string) {
	v.t.Helper()
	v.do(chromedp.Navigate(address))
	v.home = get(v, chromedp.Location())
}

// open returns a visitor with an empty tab.
func open(t *testing.T) *visitor {
	t.Helper()
	path := chromium(t)
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path),
		chromedp.NoSandbox, chromedp.Flag("disable-dev-shm-usage", true),
		chromedp.UserDataDir(t.TempDir()), chromedp.WSURLReadTimeout(patience.Time()))
	ctx, cancel := patience.Context(context.Background())
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	v := &visitor{t: t, ctx: ctx}
	v.do() // this creates the tab
	v.listen(func(event any) {
		switch e := event.(type) {
		case *runtime.EventExceptionThrown:
			v.said = append(v.said, e.ExceptionDetails.Text)
		case *runtime.EventConsoleAPICalled:
			if e.Type == runtime.ConsoleAPICalledTypeError {
				v.said = append(v.said, string(e.Args[0].Value))
			}
		}
	})
	t.Cleanup(func() {
		if len(v.said) > 0 {
			t.Errorf("the browser's console has errors: %q", v.said)
		}
	})
	return v
}

// show runs "jobledger ui", and returns the address that it prints.
func show(t *testing.T, args ...string) string {
	t.Helper()
	address, _ := shown(t, args...)
	return address
}

// shown is show that also returns the process.
func shown(t *testing.T, args ...string) (string, *os.Process) {
	t.Helper()
	cmd := exec.Command(program, append([]string{"ui"}, args...)...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	ended, err := child.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Error(err)
		}
		if err := <-ended; err != nil {
			t.Errorf("ui ended: %v", err)
		}
	})
	line := bufio.NewScanner(out)
	if !line.Scan() {
		t.Fatalf("ui said no address: %v", line.Err())
	}
	return line.Text(), cmd.Process
}

func (v *visitor) do(actions ...chromedp.Action[chromedp.Void]) {
	v.t.Helper()
	if err := chromedp.Do(v.ctx, actions...); err != nil {
		v.t.Fatal(err)
	}
}

// get runs an action that returns a value.
func get[T any](v *visitor, action chromedp.Action[T]) T {
	v.t.Helper()
	is, err := chromedp.Run(v.ctx, action)
	if err != nil {
		v.t.Fatal(err)
	}
	return is
}

// send sends a command of the browser's protocol.
func send[P, R any](v *visitor, c cdp.Command[P, R], params P) {
	v.t.Helper()
	v.do(chromedp.Func(func(ctx context.Context, tab *chromedp.Target) error {
		_, err := cdp.Call(ctx, tab, c, params)
		return err
	}))
}

// listen calls a function with each event of the tab.
func (v *visitor) listen(f func(event any)) {
	v.t.Helper()
	if err := chromedp.Listen(v.ctx, f); err != nil {
		v.t.Fatal(err)
	}
}

// goTo opens a path.
func (v *visitor) goTo(path string) {
	v.t.Helper()
	v.do(chromedp.Navigate(v.home[:len(v.home)-1] + path))
}

// eval returns the value of an expression in the page.
func eval[T any](v *visitor, expression string) T {
	v.t.Helper()
	return get(v, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
}

// text returns the text of the first element that a selector finds.
func (v *visitor) text(selector string) string {
	v.t.Helper()
	return get(v, chromedp.Text(chromedp.CSS(selector)))
}

// look is a width and a colour scheme of a screen.
type look struct {
	sentence string
	width    int64
	features []*emulation.MediaFeature
}

var (
	dark   = &emulation.MediaFeature{Name: "prefers-color-scheme", Value: "dark"}
	light  = &emulation.MediaFeature{Name: "prefers-color-scheme", Value: "light"}
	forced = &emulation.MediaFeature{Name: "forced-colors", Value: "active"}
)

func (v *visitor) use(l look) {
	v.t.Helper()
	const height = 900
	v.do(chromedp.EmulateViewport(l.width, height))
	send(v, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: l.features})
}

// shot stores a picture of the whole page in $JOBLEDGER_SHOTS, for people.
func (v *visitor) shot(name string) {
	v.t.Helper()
	dir := os.Getenv("JOBLEDGER_SHOTS")
	if dir == "" {
		return
	}
	const quality = 100 // as PNG
	if err := os.WriteFile(filepath.Join(dir, name+".png"), get(v, chromedp.FullScreenshot(quality)), 0o600); err != nil {
		v.t.Fatal(err)
	}
}

// axe returns the source of axe-core, which make test-browser downloads; empty if it is missing.
func axe(t *testing.T) string {
	t.Helper()
	root, err := binaries.FindRoot()
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile(filepath.Join(root, "bin", "browser", "node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		t.Fatalf("axe-core is not here: make test-browser puts it there (%v)", err)
	}
	return string(source)
}
