package croncase

import (
	"strings"

	"github.com/jobledger/jobledger/internal/read/duetimes"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/differs"
	"github.com/jobledger/jobledger/internal/read/explain/fates"
	"github.com/jobledger/jobledger/internal/say/words"
)

// EditText says what an edit of the CronJob changed, and by which field manager. It also lists the changed fields of
// the jobTemplate, if the log has both versions.
func (c *Case) EditText(ch *duetimes.Change) explain.Passage {
	text := fates.ChangeText(ch)
	diff := c.TemplateEdit(ch)
	if len(diff) == 0 {
		return explain.Passage{Cut: text, Whole: text}
	}
	if more := len(diff) - differs.MostDifferences; more > 0 {
		diff = append(diff[:differs.MostDifferences:differs.MostDifferences], explain.Phrase("%d more", more))
	}
	before, after, _ := strings.Cut(text, words.TemplateEdited)
	return explain.Phrase("%sjobTemplate: %s%s", before, explain.Joined(diff, " · "), after)
}

// TemplateEdit returns what an edit changed in the jobTemplate. It returns none if one of the two versions is not in
// the records that were read.
func (c *Case) TemplateEdit(edit *duetimes.Change) []explain.Passage {
	was, is := c.templates[edit.Before.Redacted], c.templates[edit.After.Redacted]
	if was == nil || is == nil {
		return nil
	}
	diff := differs.Templates(was, is)
	for i := range diff {
		diff[i] = diff[i].Each(func(s string) string {
			return strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(s, "template."), "spec."), "containers.")
		})
	}
	return diff
}
