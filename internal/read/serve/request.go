package serve

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
)

// request is what a client asks for with GET /v1/records: which records, and in which direction.
type request struct {
	history.Query
	backward bool
	follow   bool
	frames   bool
}

func parseRequest(r *http.Request) (request, error) {
	q, err := parseValues(r.URL.Query())
	q.frames = strings.Contains(r.Header.Get("Accept"), framesType)
	return q, err
}

// parseValues parses the URL parameters of GET /v1/records.
func parseValues(values url.Values) (request, error) {
	var q request
	for name, texts := range values {
		if err := q.parse(name, texts); err != nil {
			return request{}, fmt.Errorf("%s=%q: %w", name, texts[0], err)
		}
	}
	switch {
	case q.backward && (q.follow || q.Stream == nil):
		return request{}, errors.New("direction=backward goes with a stream, and without follow")
	case (q.backward || q.follow) && (q.Through != 0 || q.Since != 0 || q.Until != 0 || len(q.Kinds) > 0 ||
		q.Namespace != ""):
		return request{}, errors.New("through, since, until, kind and namespace go without follow, and forward")
	}
	return q, nil
}

// parse sets the field of q for the URL parameter name. texts has its values.
func (q *request) parse(name string, texts []string) (err error) {
	text := texts[0]
	switch name {
	case "from":
		var n uint64
		n, err = strconv.ParseUint(text, 10, 64)
		q.From = events.Sequence(n)
	case "through":
		var n uint64
		n, err = strconv.ParseUint(text, 10, 64)
		q.Through = events.Sequence(n)
	case "limit":
		if q.Limit, err = strconv.Atoi(text); q.Limit < 0 {
			err = errors.New("0 or more")
		}
	case "follow":
		q.follow, err = strconv.ParseBool(text)
	case "direction":
		if q.backward = text == "backward"; !q.backward && text != "forward" {
			err = errors.New("forward or backward")
		}
	case "stream":
		var s events.Stream
		s, err = ParseStream(text)
		q.Stream = &s
	case "since":
		q.Since, err = parseInstant(text)
	case "until":
		q.Until, err = parseInstant(text)
	case "namespace":
		q.Namespace = text
	case "kind":
		for _, text := range texts {
			k, ok := events.KindNamed(text)
			if !ok {
				return errors.New("there is no such kind")
			}
			q.Kinds = append(q.Kinds, k)
		}
	default:
		err = errors.New("there is no such parameter")
	}
	return err
}
