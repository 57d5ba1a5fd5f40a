package page

import (
	"context"
	"net/http"
	"net/url"

	"github.com/jobledger/jobledger/internal/read/ask"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/recordjson"
	"github.com/jobledger/jobledger/internal/say/words"
	"github.com/jobledger/jobledger/store"
)

// FileOf is the input of File: an answer, and how to name its log and its times.
type FileOf struct {
	Answer *explain.Answer
	At     string     // the value of ?at=: the record or time as of which the answer is; empty for the end of the log
	Log    string     // the log as a user names it on a command line, for the printed commands; empty prints DIR
	Zone   words.Zone // the time zone of the times
}

// File returns an answer as one self-contained HTML document without a script. It has the answer, for a Job the picture
// and the list of attempts, the cited records in full, the end of the log, and commands to check the file with. Its
// Content-Security-Policy allows only its own style. It consists of ASCII characters.
func File(ctx context.Context, src ask.Source, of FileOf) ([]byte, error) {
	id, head, err := src.Head(ctx)
	if err != nil {
		return nil, err
	}
	v := &view{
		site: &site{Config: Config{Log: of.Log}}, request: &http.Request{URL: &url.URL{Path: "/"}}, values: url.Values{}, src: src, id: id, head: head,
		damage: src.Damage, zone: of.Zone, File: true, cited: citedBy(of.Answer),
		AsOf: history.Place{Sequence: uint64(head.Sequence), Time: recordjson.Instant(head.Time)}, Clock: of.Zone.Second(head.Time),
	}
	if v.damage == nil {
		v.damage = &store.Damage{}
	}
	if of.Zone.Location != nil {
		v.Zone = of.Zone.Location.String()
	}
	v.src.Note, v.src.Behind = v.note, func(string) {}
	if of.At != "" {
		v.values.Set("at", of.At)
	}
	v.explained(of.Answer)
	if of.Answer.Kind == "job" {
		if err := v.tries(ctx, of.Answer, map[string]string{"at": of.At}); err != nil {
			return nil, err
		}
	}
	out, err := v.file(ctx, of.Answer)
	if err != nil {
		return nil, err
	}
	return out.body, nil
}
