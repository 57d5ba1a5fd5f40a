package oracle

import "testing"

// TestSeedsOfCronJobs is TestSeeds with the built-in CronJob controller, and 26 scenarios. The same Jobs are made and
// deleted in the same second, and statuses and Events say the same, whatever users, watches, clocks, kills and refused
// requests do (C-020, C-030, C-040, C-041, C-046, C-047, C-060, C-071, C-072, C-077, C-081, C-083, C-084, C-085, C-089,
// C-091, C-092, C-093, C-096, C-103, C-105, C-107, C-109, C-111, C-121, C-122, C-124, C-130, C-131, C-136, C-143,
// C-144, C-147, C-151, C-153, C-154, C-155, C-156, C-160, C-163, C-170, C-172, C-190, C-191, C-200, C-220, C-222,
// C-223, C-224, C-225).
func TestSeedsOfCronJobs(t *testing.T) { seeds(t, 26, GenerateCrons, Mends) }

// TestGenerateCrons: each scenario has the text that it is read from, and a seed gives the same one each time.
func TestGenerateCrons(t *testing.T) {
	for seed := range uint64(1000) {
		s, family := GenerateCrons(seed)
		if family == "" || len(s.Steps) < 2 || len(s.CronJobs) == 0 {
			t.Fatalf("seed %d: %s\n%s", seed, family, s)
		}
		if read, err := Parse(s.String()); err != nil || read.String() != s.String() {
			t.Fatalf("seed %d: %v\n%s", seed, err, s)
		}
		if again, _ := GenerateCrons(seed); again.String() != s.String() {
			t.Fatalf("seed %d gives two scenarios", seed)
		}
	}
}

// TestTheOracleSeesCronJobs: a difference is found wherever it is, and no mend hides it. Each row but the first is an
// action that ours must not do, played as if it had done it.
func TestTheOracleSeesCronJobs(t *testing.T) {
	s, err := Parse("cronjob a schedule=*/5~*~*~*~*\n+500ms create a\n+6m succeed a\n+1m edit a note=x\n+4m begin a.1\n")
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := playMended(&player{T: t}, s, nil, 1, wholly, newMends())
	if err != nil {
		t.Fatal(err)
	}
	for _, deed := range []string{
		"begin a.9", "succeed a", "fail a", "remove a.0", "remove a.1 orphan", "edit a policy=Replace", "edit a suspend=true", "edit a schedule=@hourly",
		"edit a image=v2", "manual a a-by-hand", "squat a nobody", "squat a own", "disown a.1", "keep a.0", "meddle a active=none",
		"meddle a success=none", "deny createjob quota", "deny cronstatus", "clock 4000",
	} {
		changed := s
		changed.Steps = append(s.Steps[:len(s.Steps):len(s.Steps)], Step{Wait: slot, Deeds: []string{deed}})
		mine, err := playOurs(changed, nil, 1)
		if err != nil {
			t.Fatal(err)
		}
		if found := diff(theirs, mine); (found == "") != (deed == "begin a.9") {
			t.Errorf("%s: found %q", deed, found)
		}
	}
}

// TestOneLookForAllEventsOfAMoment: under Replace, the first look whose create is refused deletes a Job and writes the
// status. Upstream each of these events may cause a look of its own, which doubles the backoff. Played wholly they cause
// one, as in ours, each time.
func TestOneLookForAllEventsOfAMoment(t *testing.T) {
	s, err := Parse("cronjob a schedule=@every~45.9s policy=Replace\n+500ms create a\n+1 deny createjob quota\n+1m18s allow\n")
	if err != nil {
		t.Fatal(err)
	}
	mine, err := playOurs(s, nil, 1)
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(10) {
		theirs, err := playUpstream(&player{T: t}, s, nil, seed, wholly)
		if err != nil {
			t.Fatal(err)
		}
		if found := diff(theirs, mine); found != "" {
			t.Fatalf("with seed %d they differ:\n%s", seed, found)
		}
	}
}
