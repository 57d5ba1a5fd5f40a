package main

// statement is an in-toto statement (v1) with SLSA provenance (v1). It says which files were built from which commit,
// and how to build them again. It is not signed; a signer wraps these bytes unchanged (DSSE).
type statement struct {
	Type          string     `json:"_type"`
	Subject       []subject  `json:"subject"`
	PredicateType string     `json:"predicateType"`
	Predicate     provenance `json:"predicate"`
}

// subject is one of the files or images that were built, identified by its digest.
type subject struct {
	Name   string            `json:"name"`
	Digest map[string]string `json:"digest"`
}

type provenance struct {
	BuildDefinition struct {
		BuildType            string           `json:"buildType"`
		ExternalParameters   map[string]any   `json:"externalParameters"`
		ResolvedDependencies []map[string]any `json:"resolvedDependencies"`
	} `json:"buildDefinition"`
	RunDetails struct {
		Builder map[string]any `json:"builder"`
	} `json:"runDetails"`
}

func (r release) statement(subjects []subject) statement {
	s := statement{Type: "https://in-toto.io/Statement/v1", Subject: subjects, PredicateType: "https://slsa.dev/provenance/v1"}
	var platforms []string
	for _, p := range r.programs {
		platforms = append(platforms, "linux/"+p.arch)
	}
	build := &s.Predicate.BuildDefinition
	build.BuildType = "https://github.com/jobledger/jobledger/tree/main/internal/dev/image"
	build.ExternalParameters = map[string]any{"version": r.version, "name": r.name, "platforms": platforms, "uncommittedChanges": r.commit.dirty()}
	build.ResolvedDependencies = []map[string]any{
		{"uri": "git+https://github.com/jobledger/jobledger", "digest": map[string]string{"gitCommit": r.commit.hash}},
		{"uri": "pkg:golang/std@" + r.goVersion},
	}
	s.Predicate.RunDetails.Builder = map[string]any{"id": build.BuildType, "version": map[string]string{"go": r.goVersion}}
	return s
}
