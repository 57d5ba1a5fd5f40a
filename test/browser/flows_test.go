package browser

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// says checks that an element contains want.
func (v *visitor) says(selector, want string) {
	v.t.Helper()
	if got := v.text(selector); !strings.Contains(got, want) {
		v.t.Errorf("%s says %q, want %q", selector, got, want)
	}
}

// follow clicks, and waits for the next page.
func (v *visitor) follow(selector string) {
	v.t.Helper()
	if _, err := chromedp.RunResponse(v.ctx, chromedp.Click(chromedp.CSS(selector), chromedp.NodeVisible)); err != nil {
		v.t.Fatalf("click %s: %v", selector, err)
	}
}

// TestFromAnAlertToALinkForOthers: the link of an alert shows the verdict, and the page's own link can be copied.
func TestFromAnAlertToALinkForOthers(t *testing.T) {
	v := visit(t, "delegated")
	v.goTo("/job/backoff-limit/etl-orders")
	v.says("h1", "all 3 tries exited 3")
	for _, kind := range []string{"clipboard-read", "clipboard-write"} {
		send(v, browser.SetPermission, browser.SetPermissionParams{
			Permission: &browser.PermissionDescriptor{Name: kind}, Setting: browser.PermissionSettingGranted,
		})
	}
	v.do(chromedp.Click(`//a[text()="copy link"]`), chromedp.WaitVisible(chromedp.CSS(".copied")))
	copied := eval[string](v, `navigator.clipboard.readText()`)
	if want := v.home + "job/backoff-limit/etl-orders"; copied != want {
		t.Errorf("copied %q, want %q", copied, want)
	}
	v.do(chromedp.Navigate(copied))
	v.says("h1", "all 3 tries exited 3")
}

// TestFromNowToACause: a cause links to its Job, and the Job to the record.
func TestFromNowToACause(t *testing.T) {
	v := visit(t, "delegated")
	v.says(".tallies", "failed in 10 causes")
	v.follow(`.troubles a[href*="/job/oom/oom"]`)
	v.says("h1", "OOMKilled")
	v.follow("h1 a.rec")
	v.says(".title", "record #")
	v.follow(`.about a[href*="/job/oom/oom"]`)
	v.says(".past", "As it was at")
	v.says(".title", "oom/oom")
}

// TestWhyACronJobDidNotStart: for a time that the user types, the page says why no Job was started, and what blocked
// it.
func TestWhyACronJobDidNotStart(t *testing.T) {
	v := visit(t, "cronjobs-run")
	v.follow(`td.name a[href*="/cronjob/cron-forbidden/report"]`)
	v.do(chromedp.SetValue(chromedp.CSS(`.whynot input`), "20:14"))
	v.follow(`.whynot button`)
	v.says(".whynot-says", "20:14")
	v.says(".whynot-says", "Forbid")
	v.follow(".whynot-says a.rec")
	v.says(".title", "record #")
}

// TestASavedFileNeedsNothing: it opens from a disk without any request, and has the text of the page.
func TestASavedFileNeedsNothing(t *testing.T) {
	v := visit(t, "delegated")
	v.goTo("/job/backoff-limit/etl-orders")
	verdict := v.text("h1")
	file := eval[string](v, `fetch(document.querySelector('.forms a[href*="o=file"]').href).then((r) => r.text())`)
	path := filepath.Join(t.TempDir(), "etl-orders.html")
	if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	reader := open(t)
	var asked []string
	reader.listen(func(event any) {
		if e, ok := event.(*network.EventRequestWillBeSent); ok {
			asked = append(asked, e.Request.URL)
		}
	})
	send(reader, network.Enable, network.EnableParams{})
	reader.do(chromedp.Navigate("file://" + path))
	if got := reader.text("h1"); got != verdict {
		t.Errorf("the file says %q, the page %q", got, verdict)
	}
	if len(asked) != 1 {
		t.Errorf("the file asks for %q, want itself alone", asked)
	}
	const most = 300 << 10
	if len(file) > most {
		t.Errorf("the file has %d bytes, want at most %d", len(file), most)
	}
	if got := reader.printed(); got > 4 {
		t.Errorf("the file prints on %d pages, want at most 4", got)
	}
}
