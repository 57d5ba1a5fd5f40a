package browser

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// pages has one page of each kind, in the sample "delegated" except for those of CronJobs.
var pages = []struct{ name, sample, path string }{
	{"now", "delegated", "/"},
	{"window", "delegated", "/?since=22:06&until=22:08&n=oom"},
	{"job", "delegated", "/job/backoff-limit/etl-orders"},
	{"indexes", "delegated", "/job/bad-indexes/shards"},
	{"then", "delegated", "/job/backoff-limit/etl-orders?at=22:07:10"},
	{"pods", "delegated", "/find?q=etl"},
	{"record", "delegated", "/record/60"},
	{"nothing", "delegated", "/job/nobody/nothing"},
	{"crons", "cronjobs-run", "/"},
	{"cronjob", "cronjobs-run", "/cronjob/cron-forbidden/report"},
	{"why-not", "cronjobs-run", "/cronjob/cron-forbidden/report?time=20:15"},
}

var looks = []look{
	{"phone", 360, []*emulation.MediaFeature{light}},
	{"phone, dark", 360, []*emulation.MediaFeature{dark}},
	{"tablet", 800, []*emulation.MediaFeature{light}},
	{"screen", 1440, []*emulation.MediaFeature{light}},
	{"screen, dark", 1440, []*emulation.MediaFeature{dark}},
}

// highContrast needs its own browser: forced colours stay forced.
var highContrast = []look{{"screen, forced colours", 1440, []*emulation.MediaFeature{dark, forced}}}

// eachPage goes to each page in turn, with a visitor of its sample.
func eachPage(t *testing.T, check func(t *testing.T, v *visitor, name string)) {
	t.Helper()
	visitors := map[string]*visitor{}
	for _, p := range pages {
		v := visitors[p.sample]
		if v == nil {
			v = visit(t, p.sample)
			visitors[p.sample] = v
		}
		t.Run(p.name, func(t *testing.T) {
			outer := v.t
			v.t = t
			defer func() { v.t = outer }()
			v.goTo(p.path)
			check(t, v, p.name)
		})
	}
}

// TestPagesFitEachWidth: no page is wider than the screen; wide elements scroll by themselves.
func TestPagesFitEachWidth(t *testing.T) {
	whole(t)
	for _, some := range [][]look{looks, highContrast} {
		eachPage(t, func(t *testing.T, v *visitor, name string) {
			for _, l := range some {
				v.use(l)
				wide := eval[int](v, `document.documentElement.scrollWidth - document.documentElement.clientWidth`)
				if wide > 0 {
					t.Errorf("%s: the page is %d px wider than the screen, by %s", l.sentence, wide, widest(v))
				}
				v.shot(name + "-" + strings.ReplaceAll(l.sentence, ", ", "-"))
			}
		})
	}
}

// widest names the elements that stick out.
func widest(v *visitor) string {
	return eval[string](v, `(() => {
		const width = document.documentElement.clientWidth;
		const out = [...document.querySelectorAll("body *")].filter((e) => e.getBoundingClientRect().right > width + 1);
		return out.slice(0, 3).map((e) => e.tagName + "." + e.className).join(", ");
	})()`)
}

// finding is a finding of axe-core.
type finding struct {
	ID    string
	Help  string
	Nodes []struct {
		HTML           string
		FailureSummary string
	}
}

// TestPagesAreAccessible: axe-core finds no violation of WCAG 2.2 AA, in each theme, with all sections unfolded.
func TestPagesAreAccessible(t *testing.T) {
	whole(t)
	source := axe(t)
	eachPage(t, func(t *testing.T, v *visitor, _ string) {
		v.do(chromedp.Evaluate[chromedp.Void](`document.querySelectorAll("details").forEach((d) => d.open = true)`),
			chromedp.Evaluate[chromedp.Void](source))
		for _, l := range []look{looks[0], looks[3], looks[4]} {
			v.use(l)
			text := eval[string](v, `axe.run(document, {
				runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"], resultTypes: ["violations"],
			}).then((r) => JSON.stringify(r.violations))`)
			var findings []finding
			if err := json.Unmarshal([]byte(text), &findings); err != nil {
				t.Fatal(err)
			}
			for _, f := range findings {
				said := fmt.Sprintf("%s: %s (%s), %d times", l.sentence, f.Help, f.ID, len(f.Nodes))
				for _, n := range f.Nodes[:min(3, len(f.Nodes))] {
					said += fmt.Sprintf("\n%.200s\n%s", n.HTML, n.FailureSummary)
				}
				t.Error(said)
			}
		}
	})
}
