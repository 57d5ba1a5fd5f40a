package events

import (
	"bytes"
	"fmt"
)

// The fields of Evidence, with their numbers in record.proto.
var (
	evidenceNamespace  = bytesField(1)
	evidenceName       = bytesField(2)
	evidenceNode       = bytesField(3)
	evidenceReason     = bytesField(4)
	evidenceMessage    = bytesField(5)
	evidenceSentence   = bytesField(6)
	evidenceContainers = bytesField(7)
	evidenceTexts      = bytesField(8)
	evidenceTemplate   = bytesField(9)
	evidenceState      = bytesField(10)
	evidenceOwner      = bytesField(11)
	evidencePassedOver = varintField(12)
	evidenceRunning    = varintField(13)
	evidenceConditions = bytesField(14)
	evidenceWaits      = bytesField(15)
	evidenceFinalizers = bytesField(16)
	evidenceOrigin     = bytesField(17)
	evidenceEdit       = bytesField(18)
	evidenceAdmitted   = bytesField(19)
	evidenceGates      = bytesField(20)
	evidenceStillRun   = bytesField(21)
)

// decodeEvidence returns the evidence. texts are the messages and sentences that belong to the record's facts, but are
// stored with the evidence.
func decodeEvidence(b []byte) (e Evidence, texts []string, err error) {
	var origin, edit []byte
	for f := (wireFields{rest: b}); f.next(&err); {
		switch f.field {
		case evidenceNamespace:
			e.Namespace = f.text(&err)
		case evidenceName:
			e.Name = f.text(&err)
		case evidenceNode:
			e.Node = f.text(&err)
		case evidenceReason:
			e.Reason = f.text(&err)
		case evidenceMessage:
			e.Message = f.text(&err)
		case evidenceSentence:
			e.Sentence = f.text(&err)
		case evidenceContainers:
			e.Containers = append(e.Containers, decodeContainer(f.bytes, &err))
		case evidenceTexts:
			texts = append(texts, f.text(&err))
		case evidenceTemplate:
			e.Template = bytes.Clone(f.bytes)
		case evidenceState:
			e.State = bytes.Clone(f.bytes)
		case evidenceOwner:
			e.Owner = f.text(&err)
		case evidencePassedOver:
			e.PassedOver = f.value
		case evidenceRunning:
			e.Running = fromSeconds(f.value)
		case evidenceConditions:
			e.Conditions = append(e.Conditions, decodeCondition(f.bytes, &err))
		case evidenceWaits:
			e.Waits = append(e.Waits, decodeWait(f.bytes, &err))
		case evidenceFinalizers:
			e.Finalizers = append(e.Finalizers, f.text(&err))
		case evidenceOrigin:
			origin = merged(origin, f.bytes)
		case evidenceAdmitted:
			e.Admitted = append(e.Admitted, f.text(&err))
		case evidenceGates:
			e.Gates = append(e.Gates, f.text(&err))
		case evidenceStillRun:
			e.StillRun = append(e.StillRun, f.text(&err))
		case evidenceEdit:
			edit = merged(edit, f.bytes)
		}
	}
	if origin != nil && err == nil {
		e.Origin = decodeOrigin(origin, &err)
	}
	if edit != nil && err == nil {
		e.Edit = decodeEdit(edit, &err)
	}
	if err != nil {
		return Evidence{}, nil, fmt.Errorf("decode evidence: %w", err)
	}
	return e, texts, nil
}

func appendEvidence(buf []byte, e *Evidence, texts []string) ([]byte, error) {
	var err error
	buf = appendTextField(buf, evidenceNamespace.number, e.Namespace, &err)
	buf = appendTextField(buf, evidenceName.number, e.Name, &err)
	buf = appendTextField(buf, evidenceNode.number, e.Node, &err)
	buf = appendTextField(buf, evidenceReason.number, e.Reason, &err)
	buf = appendTextField(buf, evidenceMessage.number, e.Message, &err)
	buf = appendTextField(buf, evidenceSentence.number, e.Sentence, &err)
	for i := range e.Containers {
		buf = appendContainer(buf, &e.Containers[i], &err)
	}
	if anyText(texts) {
		for _, t := range texts {
			buf = appendText(buf, evidenceTexts.number, t, &err)
		}
	}
	buf = appendBytesField(buf, evidenceTemplate.number, e.Template)
	buf = appendBytesField(buf, evidenceState.number, e.State)
	buf = appendTextField(buf, evidenceOwner.number, e.Owner, &err)
	buf = appendVarintField(buf, evidencePassedOver.number, e.PassedOver)
	buf = appendVarintField(buf, evidenceRunning.number, inSeconds(e.Running))
	for i := range e.Conditions {
		buf = appendCondition(buf, &e.Conditions[i], &err)
	}
	for i := range e.Waits {
		buf = appendWait(buf, &e.Waits[i], &err)
	}
	for _, f := range e.Finalizers {
		buf = appendText(buf, evidenceFinalizers.number, f, &err)
	}
	if e.Origin != nil {
		buf = appendMessage(buf, evidenceOrigin.number, OriginToWire(e.Origin), &err)
	}
	if e.Edit != nil {
		buf = appendMessage(buf, evidenceEdit.number, editToWire(e.Edit), &err)
	}
	for _, name := range e.Admitted {
		buf = appendText(buf, evidenceAdmitted.number, name, &err)
	}
	for _, name := range e.Gates {
		buf = appendText(buf, evidenceGates.number, name, &err)
	}
	for _, name := range e.StillRun {
		buf = appendText(buf, evidenceStillRun.number, name, &err)
	}
	return buf, err
}

func anyText(texts []string) bool {
	for _, t := range texts {
		if t != "" {
			return true
		}
	}
	return false
}
