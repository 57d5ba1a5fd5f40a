package page

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"html/template"
	"net/http"
	"strings"

	"github.com/jobledger/jobledger/internal/read/picture"
	"github.com/jobledger/jobledger/internal/say/words"
)

//go:embed assets
var assets embed.FS

var layout = template.Must(template.New("layout.html").Funcs(template.FuncMap{
	"clean": words.Clean,
	"style": func() template.CSS { return template.CSS(sheet.text) }, //nolint:gosec // it is a file of ours
	"sheet": func() string { return sheet.name() }, "script": func() string { return script.name() },
}).ParseFS(assets, "assets/*.html"))

// asset is a style sheet or script that pages load. The address contains the hash of the text, so a browser can cache
// it for ever.
type asset struct {
	stem, ext, kind string
	text            string
}

func read(name string) string {
	text, err := assets.ReadFile("assets/" + name)
	if err != nil {
		panic(err) // cannot happen: the file is embedded in the program
	}
	return string(text)
}

var (
	sheet  = asset{"style", ".css", "text/css; charset=utf-8", read("style.css") + picture.Style}
	script = asset{"script", ".js", "text/javascript; charset=utf-8", read("script.js")}
)

func (a asset) name() string {
	sum := sha256.Sum256([]byte(a.text))
	return a.stem + "-" + hex.EncodeToString(sum[:6]) + a.ext
}

// ServeHTTP sends the style or script.
func (a asset) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", a.kind)
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	_, _ = w.Write(packed(h, r, []byte(a.text))) // if this fails, the client has closed the connection
}

// filePolicy returns the Content-Security-Policy of a saved file: it allows only the file's own style.
func filePolicy() string {
	sum := sha256.Sum256([]byte(sheet.text))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; form-action 'none'"
}

// Policy returns the Content-Security-Policy of a saved file; the template calls it.
func (*view) Policy() string { return filePolicy() }

// page answers with the page as an HTML document.
func (v *view) page() (*reply, error) {
	for _, err := range v.damage.Met() {
		v.Damage = append(v.Damage, words.Clean(err.Error()))
	}
	var b bytes.Buffer
	if err := layout.Execute(&b, v); err != nil {
		return nil, fmt.Errorf("lay out the page: %w", err)
	}
	return &reply{body: b.Bytes()}, nil
}

// drawn returns an SVG picture of package picture as HTML that the template does not escape. Package picture has
// escaped all texts of users in it.
func drawn(svg []byte) template.HTML {
	return template.HTML(strings.TrimSpace(string(svg))) //nolint:gosec // see above; the hostile texts of the tests go through it
}
