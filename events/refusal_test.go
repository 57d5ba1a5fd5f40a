package events

import "testing"

// TestRefusalsThatMayPass: another try cannot help if the object is gone, its name is taken, or the template has
// changed.
func TestRefusalsThatMayPass(t *testing.T) {
	final := map[string]bool{"NotFound": true, "NameTaken": true, "Template": true}
	for c := range refusalNames {
		if class := RefusalClass(c); class.Passing() == final[class.String()] {
			t.Errorf("refused as %q: may pass is %t", class, class.Passing())
		}
	}
}
