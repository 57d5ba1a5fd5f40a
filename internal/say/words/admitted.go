package words

import "strings"

// Admitted says what admission changed in a pod: "containers[proxy] added, containers[main].image app:2 →
// mirror/app:2". names is events.Evidence.Admitted. It is empty if nothing changed, or if that is not known.
func Admitted(names []string) string {
	var parts []string
	for _, name := range names {
		switch {
		case name == "":
		case strings.HasPrefix(name, "+"):
			parts = append(parts, name[1:]+" added")
		case strings.HasPrefix(name, "-"):
			parts = append(parts, name[1:]+" removed")
		case strings.Contains(name, " → "): // an image that was changed, with the old and the new value
			parts = append(parts, name)
		case name == "…":
			parts = append(parts, "and more")
		default:
			parts = append(parts, name+" changed")
		}
	}
	return strings.Join(parts, ", ")
}
