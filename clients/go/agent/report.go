package agent

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"

	"github.com/phaseline/phaseline/clients/go/client"
)

const cut = " … (cut)"

// Bounds of texts for people, by their fields.
var bounds = map[string]int{
	"message": client.MaxMessage,
	"step":    client.MaxStep,
	"unit":    client.MaxProgressUnit,
	"code":    client.MaxErrorCode,
}

// A report as it is sent, without what it leaves out: of two, the fields of the newer one count.
type report map[string]any

// The work may change what it has reported.
func reportOf(outcome client.Outcome) (report, error) {
	text, err := json.Marshal(outcome)
	if err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	// Large numbers stay as they are: the server judges them.
	decoder.UseNumber()
	var fields report
	if err := decoder.Decode(&fields); err != nil {
		return nil, err
	}
	for name, value := range fields {
		if value == nil {
			delete(fields, name)
		}
	}
	return fields, nil
}

// The phase, for a message about the report.
func (fields report) what() any {
	if phase, ok := fields["phase"]; ok {
		return phase
	}
	return "a report without a phase"
}

// The report, or a part of it, with each of its texts for people cut to what the server takes.
func fitTexts(fields map[string]any) map[string]any {
	fitted := make(map[string]any, len(fields)+1)
	for name, value := range fields {
		switch given := value.(type) {
		case string:
			if most, ok := bounds[name]; ok {
				value = fit(given, most)
			}
		case map[string]any:
			if name == "progress" || name == "error" {
				value = fitTexts(given)
			}
		}
		fitted[name] = value
	}
	return fitted
}

// The server counts in UTF-16.
func fit(text string, most int) string {
	if len(text) <= most {
		return text
	}
	end, units := 0, 0
	for at, char := range text {
		if units <= most-utf8.RuneCountInString(cut) {
			end = at
		}
		if units++; char > 0xFFFF {
			units++
		}
	}
	if units <= most {
		return text
	}
	return text[:end] + cut
}
