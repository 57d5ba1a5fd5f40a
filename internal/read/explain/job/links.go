package job

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"text/template"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/ending"
	"github.com/jobledger/jobledger/internal/read/explain/try"
)

// Link makes web addresses for tries (pods) from a template, for example that of a pod's logs.
type Link struct {
	Name string
	text *template.Template
}

// linked has the fields that the template of an address can use. Their values are escaped for the query of a URL.
type linked struct {
	Namespace, Job, Pod, UID, Node, Container string

	From, To             string // RFC 3339: from 1 s before the try began to 1 s after it ended
	FromMillis, ToMillis string // the same times, in milliseconds since 1970
}

var errLink = errors.New("must be NAME=ADDRESS, where ADDRESS may contain {{.Namespace}}, {{.Job}}, {{.Pod}}, {{.UID}}, {{.Node}}, " +
	"{{.Container}}, {{.From}}, {{.To}}, {{.FromMillis}} and {{.ToMillis}}")

// ParseLink parses the name and the template of an address: "Logs=https://logs.example/?pod={{.Pod}}&from={{.From}}".
func ParseLink(text string) (Link, error) {
	name, address, ok := strings.Cut(text, "=")
	if !ok || name == "" || !strings.Contains(address, "://") {
		return Link{}, errLink
	}
	t, err := template.New(name).Parse(address)
	if err != nil {
		return Link{}, fmt.Errorf("%w: %w", errLink, err)
	}
	if err := t.Execute(&strings.Builder{}, linked{}); err != nil {
		return Link{}, fmt.Errorf("%w: %w", errLink, err)
	}
	return Link{Name: name, text: t}, nil
}

// mostLinked is the number of tries (pods) with addresses in an answer without details.
const mostLinked = 2

// Link adds web addresses of tries (pods) to answer a: of the failed ones, or if none failed, of all.
func (c *Case) Link(a *explain.Answer, links []Link) error {
	of := ending.FailedTries(c.Case)
	if len(of) == 0 {
		of = c.Tries
	}
	if a.Kind == "pod" {
		of = []*try.Try{c.TryOf(a.UID)}
	}
	for _, l := range links {
		var out []explain.Sentence
		for i, t := range of[:min(len(of), explain.MostCited)] {
			var b strings.Builder
			if err := l.text.Execute(&b, c.linked(t)); err != nil {
				return fmt.Errorf("--link %s: %w", l.Name, err)
			}
			s := explain.Say(nil, "%s  %s", t.Pod, b.String())
			s.Detail = i >= mostLinked
			out = append(out, s)
		}
		a.Add(strings.ToUpper(l.Name), out...)
	}
	return nil
}

func (c *Case) linked(t *try.Try) linked {
	from, to := t.Began(), t.Finished
	if from == 0 {
		from = max(t.Created, t.Started.At)
	}
	if to == 0 {
		to = ending.Until(t, c.Case)
	}
	from, to = from.Add(-time.Second), to.Add(time.Second)
	container := ""
	if fs := try.Failures(t.Containers); len(fs) > 0 {
		container = fs[0].Name
	}
	q := url.QueryEscape
	return linked{
		Namespace: q(c.Job.Namespace), Job: q(c.Job.Name), Pod: q(t.Pod), UID: q(string(t.UID)), Node: q(t.Node),
		Container: q(container),
		From:      q(rfc3339(from)), To: q(rfc3339(to)), FromMillis: millis(from), ToMillis: millis(to),
	}
}

func rfc3339(t events.Time) string { return t.Go().Format(time.RFC3339) }

func millis(t events.Time) string { return strconv.FormatInt(t.Go().UnixMilli(), 10) }
