package bench

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Baseline has the ratios (Jobledger ÷ built-in controller) of earlier runs. Only ratios can be compared between
// machines. Its keys, from outside to inside: setting and size, such as "life, quick"; workload; figure.
type Baseline map[string]map[string]map[string]float64

// size returns the setting and the size of a report as text. Only reports of the same size can be compared.
func (r *Report) size() string {
	if r.Quick {
		return r.Setting.String() + ", quick"
	}
	return r.Setting.String() + ", full"
}

func (b Baseline) ratios(r *Report) map[string]map[string]float64 { return b[r.size()] }

// ReadBaseline reads a file that Update wrote. If the file does not exist, the baseline is empty.
func ReadBaseline(path string) (Baseline, error) {
	b := Baseline{}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return b, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &b)
	}
	if err != nil {
		return b, fmt.Errorf("read the baseline: %w", err)
	}
	return b, nil
}

// Update writes the ratios of the report r into the file, in place of the ratios for the same size and workloads. Other
// ratios in the file stay.
func (b Baseline) Update(r *Report, path string) error {
	to := b.ratios(r)
	if to == nil {
		to = map[string]map[string]float64{}
		b[r.size()] = to
	}
	for _, o := range r.Outcomes {
		if len(o.Ratios) == 0 {
			continue
		}
		rounded := map[string]float64{}
		for key, v := range o.Ratios {
			rounded[key] = round(v)
		}
		to[o.Workload] = rounded
	}
	text, err := json.MarshalIndent(b, "", "  ")
	if err == nil {
		err = os.WriteFile(path, append(text, '\n'), 0o644)
	}
	if err != nil {
		return fmt.Errorf("write the baseline: %w", err)
	}
	return nil
}
