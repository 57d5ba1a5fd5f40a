package causes

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// unstaged are the causes that cannot be staged on the node of the tests, with the reason.
var unstaged = map[string]string{
	"shutdown": "the kubelet hears of it from systemd, which does not run there",
	"device":   "there is no device plugin",
}

// unplayed are lines that a kubelet writes and the generator does not play, mostly because of timing.
var unplayed = map[string]*regexp.Regexp{
	// Whether the kubelet finds the container that it has just killed depends on timing. The generator plays one case
	// of each.
	"storage": regexp.MustCompile(`exit 137 Error|main waits ContainerCreating`),
	"unknown": regexp.MustCompile(`exit 137 Error`),
	// On a busy machine a pod may be Pending for a moment after its container runs or has ended.
	"poddeadline": regexp.MustCompile(`^Pending \| main running$`),
	"oom":         regexp.MustCompile(`^Pending \| main exit 137 OOMKilled$`),
	// The generator stops after the second wait.
	"crashloop": regexp.MustCompile(`restarted 3 times`),
}

// TestTheGeneratorSpeaksAsAKubelet compares the lines that the generator plays with those of a real kubelet, which
// test/node/situations recorded. The kubelet has written each line that is played, and each line that it wrote is
// played.
func TestTheGeneratorSpeaksAsAKubelet(t *testing.T) {
	real, err := ReadWords(filepath.Join("testdata", "words.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range Table() {
		if why := unstaged[c.Name]; why != "" {
			continue
		}
		var said []string
		for _, line := range real[c.Name] {
			said = append(said, strings.ReplaceAll(line, "private.corp", "registry.corp"))
		}
		played := c.Played()
		for _, line := range without(played, said) {
			t.Errorf("%s: no kubelet wrote %s", c.Name, line)
		}
		for _, line := range without(said, played) {
			if may := unplayed[c.Name]; may == nil || !may.MatchString(line) {
				t.Errorf("%s: a kubelet wrote, and nobody plays %s", c.Name, line)
			}
		}
	}
}

// TestWordsAreReadAsTheyWereWritten: the file keeps the names and the order of the lines.
func TestWordsAreReadAsTheyWereWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "words.txt")
	wrote := Words{"oom": {"Running ready | main running", "Failed | main exit 137 OOMKilled"}, "class": {""}, "delete": {"Pending"}}
	if err := wrote.Write(path); err != nil {
		t.Fatal(err)
	}
	read, err := ReadWords(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"oom", "delete"} {
		if !slices.Equal(read[name], wrote[name]) {
			t.Errorf("%s: read %q, wrote %q", name, read[name], wrote[name])
		}
	}
	if news := read.News(Words{"oom": {"Failed | main exit 137 OOMKilled", "Failed | main exit 1 Error"}}); len(news) != 1 || !strings.Contains(news[0], "exit 1 Error") {
		t.Errorf("news are %q", news)
	}
}
