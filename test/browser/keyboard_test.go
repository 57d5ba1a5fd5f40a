package browser

import (
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// press presses a key.
func (v *visitor) press(key string) {
	v.t.Helper()
	v.do(chromedp.KeyEvent(key))
}

// tab presses Tab until the element of a selector has the focus, which must be visible.
func (v *visitor) tab(selector string) {
	v.t.Helper()
	const most = 200
	for range most {
		v.press(kb.Tab)
		if eval[bool](v, `document.activeElement.matches(`+quoted(selector)+`)`) {
			return
		}
		if !eval[bool](v, `(() => {
			const e = document.activeElement, s = getComputedStyle(e);
			return e === document.body || s.outlineStyle !== "none" && parseFloat(s.outlineWidth) > 0 || s.boxShadow !== "none";
		})()`) {
			v.t.Errorf("nobody sees that %s has the focus", eval[string](v, `document.activeElement.outerHTML.slice(0, 120)`))
		}
	}
	v.t.Fatalf("%s is not reached by Tab", selector)
}

// slash presses the key / like a keyboard: the key event comes before the letter.
func (v *visitor) slash() {
	v.t.Helper()
	for _, event := range []input.DispatchKeyEventParams{
		{Type: "keyDown", Key: "/", Text: "/"}, {Type: "keyUp", Key: "/"},
	} {
		send(v, input.DispatchKeyEvent, event)
	}
}

// enter presses Enter, and waits for the next page.
func (v *visitor) enter() {
	v.t.Helper()
	if _, err := chromedp.RunResponse(v.ctx, chromedp.KeyEvent(kb.Enter)); err != nil {
		v.t.Fatalf("Enter: %v", err)
	}
}

func quoted(s string) string { return "`" + strings.ReplaceAll(s, "`", "\\`") + "`" }

// TestByKeyboardAlone: from the first page to a cause, to its record, to a Job by search, to a folded section.
func TestByKeyboardAlone(t *testing.T) {
	v := visit(t, "delegated")
	v.press(kb.Tab)
	if !eval[bool](v, `document.activeElement.matches(".skip")`) {
		t.Error("the first Tab is not on the link that skips the head")
	}
	v.tab(`.troubles a[href*="/job/oom/oom"]`)
	v.enter()
	v.says("h1", "OOMKilled")
	v.tab("h1 a.rec")
	v.enter()
	v.says(".title", "record #")
	v.slash()
	v.do(chromedp.KeyEvent("etl-orders"))
	if got := eval[string](v, `document.querySelector(".search input").value`); got != "etl-orders" {
		t.Fatalf("after / the search holds %q", got)
	}
	v.enter()
	v.says("table", "etl-orders")
	v.tab(`td.name a`)
	v.enter()
	v.says("h1", "all 3 tries exited 3")
	v.tab(`details > summary`)
	v.press(" ")
	if !eval[bool](v, `document.activeElement.parentElement.open`) {
		t.Error("the space bar does not unfold what has the focus")
	}
	v.tab(`.picture .wide`) // so that it can be scrolled
}
