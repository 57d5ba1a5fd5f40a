package picture

import (
	"encoding/xml"
	"fmt"
	"strconv"
	"strings"

	"github.com/jobledger/jobledger/internal/say/words"
)

// ASCII replaces each non-ASCII character of an SVG or HTML text by a reference: → becomes &#8594;. The result is
// correct in every character set that a mail or a terminal assumes. Style sheets in the text must be ASCII already.
func ASCII(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for _, r := range string(text) {
		if r < 0x80 {
			out = append(out, byte(r))
			continue
		}
		out = append(out, "&#"+strconv.Itoa(int(r))+";"...)
	}
	return out
}

// canvas is a picture while it is drawn: the SVG elements so far.
type canvas struct {
	b       strings.Builder
	options Options
	used    map[string]bool // kinds of marks that were drawn; the legend explains them
}

// num formats a coordinate, rounded to a tenth of a unit. x must not be negative.
func num(x float64) string { return strconv.FormatFloat(float64(int64(x*10+0.5))/10, 'f', -1, 64) }

// quoted escapes a text for an SVG element or attribute, and makes invisible characters visible.
func quoted(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(words.Clean(text))) // a write to a strings.Builder cannot fail
	return b.String()
}

// text adds a text at x, y. class is its CSS class, which sets how it looks, and whether it begins, is centred or ends
// at x.
func (c *canvas) text(class string, x, y float64, text string) {
	fmt.Fprintf(&c.b, `<text class="%s" x="%s" y="%s">%s</text>`, class, num(x), num(y), quoted(text))
}

// rect adds a bar. pattern is the name of its fill; if empty, it has the plain colour of its CSS class.
func (c *canvas) rect(class, pattern string, x, y, width, height float64) {
	fill := ""
	if pattern != "" {
		fill = fmt.Sprintf(` fill="url(#jl-%s)"`, pattern)
	}
	fmt.Fprintf(&c.b, `<rect class="%s" x="%s" y="%s" width="%s" height="%s"%s/>`, class, num(x), num(y), num(max(width, leastWidth)), num(height), fill)
}

func (c *canvas) path(class, d string) { fmt.Fprintf(&c.b, `<path class="%s" d="%s"/>`, class, d) }

// about puts the elements that draw adds into a group with a tooltip. If pictures have links (Options.Record), the
// group is a link to the record.
func (c *canvas) about(title string, record uint64, draw func()) {
	address := ""
	if record != 0 && c.options.Record != nil {
		address = c.options.Record(record)
	}
	if address != "" {
		fmt.Fprintf(&c.b, `<a href="%s">`, quoted(address))
	} else {
		c.b.WriteString("<g>")
	}
	if record != 0 {
		title += fmt.Sprintf("  #%d", record)
	}
	fmt.Fprintf(&c.b, "<title>%s</title>", quoted(title))
	draw()
	if address != "" {
		c.b.WriteString("</a>\n")
	} else {
		c.b.WriteString("</g>\n")
	}
}

// leastWidth is the smallest width of a bar: even a very short time is visible.
const leastWidth = 1.5

// patterns defines the patterns that fill bars, so that a user need not see colours.
const patterns = `<defs>` +
	`<pattern id="jl-starting" width="4" height="4" patternUnits="userSpaceOnUse"><rect class="jl-soft" width="4" height="4"/><circle class="jl-dot" cx="1.2" cy="1.2" r="0.9"/></pattern>` +
	`<pattern id="jl-scheduling" width="5" height="5" patternUnits="userSpaceOnUse"><circle class="jl-dot" cx="2.5" cy="2.5" r="0.9"/></pattern>` +
	`<pattern id="jl-creating" width="4" height="6" patternUnits="userSpaceOnUse"><path class="jl-thin" d="M2 0V6"/></pattern>` +
	`<pattern id="jl-stopping" width="6" height="3" patternUnits="userSpaceOnUse"><path class="jl-thin" d="M0 1.5H6"/></pattern>` +
	`<pattern id="jl-backoff" width="6" height="6" patternUnits="userSpaceOnUse"><path class="jl-faint" d="M-1 7L7 -1M-1 1L1 -1M5 7L7 5"/></pattern>` +
	`<pattern id="jl-suspended" width="7" height="7" patternUnits="userSpaceOnUse"><path class="jl-thin" d="M0 0L7 7M0 7L7 0"/></pattern>` +
	`<pattern id="jl-unwatched" width="7" height="7" patternUnits="userSpaceOnUse"><path class="jl-hatch" d="M-1 -1L8 8M-1 6L1 8M6 -1L8 1"/></pattern>` +
	`</defs>` + "\n"

// Style is the style sheet of pictures, for the light and the dark theme. A page includes it in its own style sheet. A
// picture with Options.Alone contains it.
const Style = `.jl{--ink:#1f2430;--mute:#667085;--line:#e4e2dc;--run:#3f6489;--soft:#c9d7e6;--bad:#b3261e;--good:#2c7a4b;--gap:#94690c;--paper:#fffefb;
font:12px ui-sans-serif,system-ui,-apple-system,"Segoe UI","Helvetica Neue",Arial,"DejaVu Sans",sans-serif;font-variant-numeric:tabular-nums;display:block}
@media(prefers-color-scheme:dark){.jl{--ink:#e6e4de;--mute:#9a9da6;--line:#2e3138;--run:#86aed6;--soft:#33485f;--bad:#f0877e;--good:#79c495;--gap:#d9ad52;--paper:#16181c}}
.jl text{fill:var(--ink)}.jl .jl-mute{fill:var(--mute)}.jl .jl-small{fill:var(--mute);font-size:11px}.jl .jl-name{text-anchor:end}.jl .jl-mid{fill:var(--mute);font-size:11px;text-anchor:middle}
.jl .jl-end{fill:var(--mute);font-size:11px;text-anchor:end}.jl-back{fill:var(--paper)}.jl-running{fill:var(--run)}.jl-soft{fill:var(--soft)}.jl-dot{fill:var(--run)}
.jl-thin{stroke:var(--run);stroke-width:1;fill:none}.jl-faint{stroke:var(--mute);stroke-width:1;fill:none;opacity:.65}.jl-hatch{stroke:var(--gap);stroke-width:1.2;fill:none}
.jl-edge{fill-opacity:1;stroke:var(--line);stroke-width:1}.jl-gapedge{stroke:var(--gap);stroke-width:1;stroke-opacity:.5}.jl-grid{stroke:var(--line);stroke-width:1;fill:none}
.jl-ok{stroke:var(--good);stroke-width:2;fill:none;stroke-linecap:round;stroke-linejoin:round}.jl-no{stroke:var(--bad);stroke-width:2;fill:none;stroke-linecap:round}
.jl-halo{fill:var(--paper)}.jl-whisker{stroke:var(--ink);stroke-width:1.2;fill:none}.jl-fold{stroke:var(--mute);stroke-width:1.2;fill:none}.jl-foldback{fill:var(--paper)}
.jl-want{stroke:var(--ink);stroke-width:1.5;fill:none}.jl-wantfill{fill:var(--soft);fill-opacity:.45}.jl-watch{stroke:var(--mute);stroke-width:1.2;fill:none}
.jl-mark{stroke:var(--mute);stroke-width:1;stroke-dasharray:2 3;fill:none}.jl-edited{fill:var(--paper);stroke:var(--ink);stroke-width:1.4}.jl-decided{fill:var(--ink)}
.jl-cellok{fill:var(--good);fill-opacity:.55}.jl-cellno{fill:var(--bad)}.jl-cellrun{fill:var(--run)}.jl a:hover rect,.jl a:hover path{opacity:.75}.jl a:focus-visible{outline:2px solid var(--run)}
@media(forced-colors:active){.jl{--ink:CanvasText;--mute:CanvasText;--line:GrayText;--run:LinkText;--soft:Canvas;--bad:CanvasText;--good:CanvasText;--gap:CanvasText;--paper:Canvas}}
@media print{.jl{--ink:#000;--mute:#444;--line:#ccc;--run:#33577c;--soft:#c9d7e6;--bad:#9b1c15;--good:#1f6b3d;--gap:#7a5600;--paper:#fff}}
`

// opening returns the opening tag of a picture. Its role is "graphics-document", because screen readers hide links
// within an image.
func opening(label string, height float64, attributes string) string {
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" class="jl" viewBox="0 0 %[1]s %[2]s" width="%[1]s" height="%[2]s" `+
		`role="graphics-document" aria-label="%[3]s"%[4]s>`, num(width), num(height), quoted(label), attributes)
}
