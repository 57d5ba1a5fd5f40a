package effort

import (
	"fmt"
	"testing"
)

func TestLengths(t *testing.T) {
	rows := []int{0, 1, 2, 3, 4, 5, 6}
	for _, row := range []struct {
		whole, long       string
		isWhole, isLong   bool
		everyThird, plays string
	}{
		{"", "", false, false, "[0 3 6]", "skipped"},
		{"1", "", true, false, "[0 1 2 3 4 5 6]", "played"},
		{"", "1", true, true, "[0 1 2 3 4 5 6]", "played"},
		{"1", "1", true, true, "[0 1 2 3 4 5 6]", "played"},
	} {
		t.Run(fmt.Sprintf("whole %q long %q", row.whole, row.long), func(t *testing.T) {
			t.Setenv("JOBLEDGER_WHOLE", row.whole)
			t.Setenv("JOBLEDGER_LONG", row.long)
			if IsWhole() != row.isWhole || IsLong() != row.isLong {
				t.Errorf("whole %t, long %t", IsWhole(), IsLong())
			}
			if some := fmt.Sprint(Each(3, rows)); some != row.everyThird {
				t.Errorf("every third: %s", some)
			}
			plays := "skipped"
			t.Run("test", func(t *testing.T) {
				Whole(t)
				plays = "played"
			})
			if plays != row.plays {
				t.Errorf("a test of the whole is %s", plays)
			}
		})
	}
}
