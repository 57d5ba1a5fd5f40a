package agent

import "testing"

// TestTheNamespaceOfACall: that of the object, else that of the call, else that of the server, which the question then
// gets, too.
func TestTheNamespaceOfACall(t *testing.T) {
	for _, row := range []struct {
		tool   string
		values map[string]string
		usual  string
		want   string
		given  string // to the question
	}{
		{"failures", map[string]string{}, "", "", ""},
		{"failures", map[string]string{}, "prod", "prod", "prod"},
		{"failures", map[string]string{"namespace": "web"}, "prod", "web", "web"},
		{"explain", map[string]string{"object": "job/etl"}, "prod", "prod", "prod"},
		{"explain", map[string]string{"object": "web/etl"}, "prod", "web", ""},
		{"ticks", map[string]string{"cronjob": "web/etl"}, "prod", "web", ""},
		{"ticks", map[string]string{"cronjob": "etl"}, "", "", ""},
		{"records", map[string]string{"number": "7"}, "prod", "prod", "prod"},
	} {
		c := Config{Namespace: row.usual}
		for i := range tools {
			if tools[i].name != row.tool {
				continue
			}
			if got := c.namespace(&tools[i], row.values); got != row.want || row.values["namespace"] != row.given {
				t.Errorf("%s %v with %q: %q, and the question gets %q", row.tool, row.values, row.usual, got, row.values["namespace"])
			}
		}
	}
}
