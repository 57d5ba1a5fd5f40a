package agent

import (
	"context"
	"strings"

	"github.com/jobledger/jobledger/internal/read/ask"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/show"
	"github.com/jobledger/jobledger/internal/say/words"
)

// explained answers the tool explain: why an object is as it is. It writes details last, because a text that is too
// long is cut at its end.
func explained(ctx context.Context, a *asking) (any, error) {
	value, answer, err := put(ctx, a, ask.Explain.New(), nil, a.values["object"])
	if answer == nil {
		return nil, err
	}
	a.text.line("OF", show.Title(answer)+", "+answer.State)
	if len(answer.Lives) > 0 {
		a.text.line("LIVES", explain.LivesText(answer.Lives, words.Zone{}))
	}
	a.sentence("VERDICT", &answer.Verdict)
	a.text.line("ABOUT", strings.Join(show.About(answer, words.Zone{}), " · "))
	for _, detail := range []bool{false, true} {
		for i := range answer.Sections {
			s := &answer.Sections[i]
			for k := range s.Sentences {
				if s.Sentences[k].Detail == detail {
					a.sentence(s.Head, &s.Sentences[k])
				}
			}
		}
	}
	return value, err
}

func (a *asking) sentence(label string, s *explain.Sentence) {
	a.text.line(label, s.Text, s.Records...)
}

// whyNot answers the tool why_not: why a CronJob started no Job at an instant, or whether it did.
func whyNot(ctx context.Context, a *asking) (any, error) {
	value, answer, err := put(ctx, a, ask.WhyNot.New(), nil, named(a), a.values["time"])
	if answer == nil {
		return nil, err
	}
	for i := range answer.Sentences {
		a.sentence("SAYS", &answer.Sentences[i])
	}
	return value, err
}

// named returns the argument of a tool that names a CronJob. It puts "cronjob/" before a name without a kind.
func named(a *asking) string {
	name := a.values["cronjob"]
	if first, _, slash := strings.Cut(name, "/"); slash && strings.HasPrefix(first, "c") {
		return name
	}
	return "cronjob/" + name
}
