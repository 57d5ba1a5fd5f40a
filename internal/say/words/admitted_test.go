package words

import "testing"

// TestWhatAdmissionChanged is told in words for people, not in the signs of the record.
func TestWhatAdmissionChanged(t *testing.T) {
	for _, row := range []struct {
		want  string
		names []string
	}{
		{"", nil}, {"", []string{""}},
		{"containers[istio] added, volumes removed, nodeSelector changed, and more", []string{"+containers[istio]", "-volumes", "nodeSelector", "…"}},
		{"containers[main].image app:2 → mirror/app:2, tolerations changed", []string{"containers[main].image app:2 → mirror/app:2", "tolerations"}},
	} {
		if got := Admitted(row.names); got != row.want {
			t.Errorf("%q are %q, want %q", row.names, got, row.want)
		}
	}
}
