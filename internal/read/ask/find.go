package ask

import (
	"context"
	"strings"

	"github.com/spf13/pflag"

	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/which"
	"github.com/jobledger/jobledger/internal/say/recordjson"
)

// FindParams are the parameters of Find: the text to search, the namespace, and how many results.
type FindParams struct {
	zones
	text      string
	namespace string
	most      int
}

// Limits of Find: usualFound results unless --limit is set, and at most mostFound.
const (
	usualFound = 50
	mostFound  = 1000
	longest    = 253 // most characters of the text; no name in Kubernetes is longer
)

func (p *FindParams) bind(fs *pflag.FlagSet) {
	p.zones.bind(fs)
	fs.StringVarP(&p.namespace, FlagNamespace, "n", "", "only in this namespace")
	fs.IntVar(&p.most, "limit", usualFound, "so many at most")
}

func (p *FindParams) read(args []string) error {
	p.text = strings.TrimSpace(strings.Join(args, " "))
	switch {
	case p.text == "":
		return which.Wrong("say what to find: a piece of a name, a pod's name or a UID, or the number of a record")
	case len(p.text) > longest:
		return which.Wrong("no name has more than %d characters, and this text has %d", longest, len(p.text))
	case p.most < 1 || p.most > mostFound:
		return which.Wrong("--limit %d: must be from 1 to %d", p.most, mostFound)
	}
	return p.zones.read()
}

func (p *FindParams) about() string { return p.namespace }

// Found is the answer of Find: the objects and records that match the text. Its JSON changes only by adding fields.
type Found struct {
	Text string        `json:"text"`
	AsOf history.Place `json:"asOf"` // end of the log when it was searched
	which.Pieces
	// Newest is how many of the newest Jobs, and of the newest CronJobs, Find searches at most.
	Newest int `json:"newest"`
}

// Find is the search for Jobs, CronJobs and pods by a part of their name or UID, and for records by number.
var Find = &Question[FindParams, Found]{
	name: "find", about: "Find Jobs, CronJobs and pods by a piece of a name or UID, and records by number", takes: AText, folds: true,
	new: func() (*FindParams, parameters) {
		p := &FindParams{}
		return p, p
	},
	ask: func(ctx context.Context, src Source, p *FindParams) (*Found, error) {
		_, head, err := src.Head(ctx)
		if err != nil {
			return nil, err
		}
		finder := src.finder()
		found, unread := finder.Pieces(ctx, p.text, p.namespace, p.most)
		if found == nil {
			return nil, unread
		}
		if found.Items == nil {
			found.Items = []which.Match{}
		}
		if found.Omitted > 0 {
			src.behind("%d more match; --limit %d shows them", found.Omitted, min(len(found.Items)+found.Omitted, mostFound))
		}
		return &Found{
			Text: p.text, AsOf: history.Place{Sequence: uint64(head.Sequence), Time: recordjson.Instant(head.Time)}, Pieces: *found, Newest: which.MostPieces,
		}, unread
	},
}
