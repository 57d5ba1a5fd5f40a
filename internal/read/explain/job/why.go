package job

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/jobcase"
	"github.com/jobledger/jobledger/internal/read/explain/verdicts"
	"github.com/jobledger/jobledger/internal/say/words"
)

// statusSays says that the Job's end is only known from its status, because no decision of ours ended it. Any client
// with the right to write the status can set it, and no record tells who did. s is the end as the status shows it.
func (c *Case) statusSays(s *jobcase.Settling) string {
	text := "its status says so"
	doubted := verdicts.Doubt(c.Case, s) != "" // the verdict says already that the counts contradict it
	switch {
	case !c.OursAt(s.Seen) && doubted:
		return "the Job is " + c.Controller() + "'s"
	case !c.OursAt(s.Seen):
		text += " (the Job is " + c.Controller() + "'s)"
	case c.OursUntil(s.Seen) && !c.Decided[s.Reason] && c.Added.Record != 0 && c.Damage == 0 && c.Resumed == 0 &&
		len(c.Touching()) == 0:
		text += " (it was no decision of Jobledger's)"
	}
	if s.Same {
		text += ", and rule " + s.Rule + " agrees"
	}
	return text
}

// why says what decided the end of the Job, with the numbers that were compared, such as failures and backoffLimit.
func (c *Case) why() []explain.Sentence {
	s := c.Settled
	if s == nil {
		return nil
	}
	var out []explain.Sentence
	text := verdicts.Numbers(c.Case, s)
	switch t := c.SettledBy(); {
	case t == nil || t.MaySucceed:
	case s.Reason == "FailedIndexes": // the last index to end may have succeeded
		text = strings.Replace(text, "every index has ended", "every index has ended, the last by "+t.Pod, 1)
	default:
		text += " (the last: " + t.Pod
		if limit := t.OwnLimit(); limit != "" && len(c.Tries) > 1 {
			text += ": " + limit
		}
		text += ")"
	}
	switch {
	case s.Decided.Record != 0:
		text += fmt.Sprintf("; rule %s", s.Rule)
		if s.Stored.At > s.Decided.At {
			text += fmt.Sprintf(", stored %s later", words.Span(s.Stored.At.Sub(s.Decided.At)))
		}
	default:
		text += "; " + c.statusSays(s)
	}
	from := slices.Concat(c.Trigger(s), verdicts.NumbersMarks(c.Case, s))
	out = append(out, explain.Say(explain.Marks(append(from, s.Decided, s.Stored)...), "%s", text))
	if s.Decided.Record == 0 && !s.Same && c.Unexplained.Record != 0 {
		out = append(out, explain.Say(explain.Marks(c.Unexplained), "nothing that was seen of it says so"))
	}
	if s.Message != "" {
		out = append(out, explain.Detail(explain.Say(explain.Marks(s.StoredBy()), "its condition says: %s: %s", s.Reason,
			s.Message)))
	}
	return out
}
