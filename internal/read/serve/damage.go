package serve

import (
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/recordjson"
	"github.com/jobledger/jobledger/store"
)

// damageHeader names damage beside which an answer was read: an error as formatError writes it, quoted; one header for
// each damaged place. JSON objects have the texts in their field damage, too.
const damageHeader = "Jobledger-Damage"

// known begins the damage of an answer with what is known from the start.
func (e *endpoint) known() *store.Damage {
	d := &store.Damage{}
	if e.config.Damage != nil {
		for _, err := range e.config.Damage() {
			d.Note(err)
		}
	}
	return d
}

// beside is the log for one request: it notes the damage that is met.
func (e *endpoint) beside(d *store.Damage) history.Local {
	return history.Local{Log: e.config.Log, Clock: e.config.Now, Lists: e.config.Lists, Damage: d}
}

// writeBeside answers with a value, and names the damage beside which it was read.
func writeBeside(w http.ResponseWriter, v any, d *store.Damage) {
	for _, err := range d.Met() {
		w.Header().Add(damageHeader, strconv.QuoteToASCII(formatError(err)))
	}
	if len(d.Met()) == 0 {
		writeJSON(w, v)
		return
	}
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		fail(w, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(append(recordjson.WithDamage(text, d.Met()), '\n')) // who asked may be gone
}

// damageOf reads what the headers of an answer say of damage.
func damageOf(h http.Header) *store.Damage {
	d := &store.Damage{}
	for _, quoted := range h.Values(damageHeader) {
		if text, err := strconv.Unquote(quoted); err == nil {
			d.Note(parseError(text))
		}
	}
	return d
}
