package main

import (
	"bytes"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// bill returns the SBOM of a program: the Go modules that the linker put into it, with their hashes in the form of
// go.sum.
func (r release) bill(p program) ([]byte, error) {
	bom := cdx.NewBOM()
	bom.Metadata = &cdx.Metadata{
		Timestamp: r.commit.time.UTC().Format("2006-01-02T15:04:05Z"),
		Component: &cdx.Component{
			BOMRef: "jobledger", Type: cdx.ComponentTypeApplication, Name: "jobledger", Version: r.version,
			PackageURL: "pkg:golang/github.com/jobledger/jobledger@" + r.version,
			Properties: &[]cdx.Property{{Name: "platform", Value: "linux/" + p.arch}, {Name: "commit", Value: r.commit.hash}},
		},
	}
	components := []cdx.Component{{
		BOMRef: "pkg:golang/std@" + r.goVersion, Type: cdx.ComponentTypeLibrary, Name: "std", Version: r.goVersion,
		PackageURL: "pkg:golang/std@" + r.goVersion, Licenses: p.licences("std"),
	}}
	for _, m := range p.info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		purl := "pkg:golang/" + m.Path + "@" + m.Version
		components = append(components, cdx.Component{
			BOMRef: purl, Type: cdx.ComponentTypeLibrary, Name: m.Path, Version: m.Version, PackageURL: purl,
			Properties: &[]cdx.Property{{Name: "go.sum", Value: m.Sum}}, Licenses: p.licences(m.Path),
		})
	}
	refs := make([]string, len(components))
	for i, c := range components {
		refs[i] = c.BOMRef
	}
	bom.Components = &components
	bom.Dependencies = &[]cdx.Dependency{{Ref: "jobledger", Dependencies: &refs}}

	var b bytes.Buffer
	err := cdx.NewBOMEncoder(&b, cdx.BOMFileFormatJSON).SetPretty(true).EncodeVersion(bom, cdx.SpecVersion1_6)
	return b.Bytes(), err
}

// licences returns the licences of a module in the form of an SBOM.
func (p program) licences(module string) *cdx.Licenses {
	var all cdx.Licenses
	for _, t := range p.terms {
		if t.module != module {
			continue
		}
		for _, id := range t.ids() {
			all = append(all, cdx.LicenseChoice{License: &cdx.License{ID: id}})
		}
	}
	return &all
}
