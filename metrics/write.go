package metrics

import (
	"bytes"
	"encoding/binary"
	"io"
	"slices"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"google.golang.org/protobuf/proto"
)

// piece is how many series are gathered at a time to be written. All of them,
// with 200 targets, would take more memory than the whole run.
const piece = 512

// pieces hands out the vector's series, some at a time. Between them the
// vector is free: who writes them may be slow.
func (v *vector) pieces(as shape, each func(*dto.MetricFamily) error) error {
	v.mu.Lock()
	all := v.keys()
	v.mu.Unlock()
	for keys := range slices.Chunk(all, piece) {
		v.mu.Lock()
		f := v.gather(slices.DeleteFunc(keys, v.gone), as)
		v.mu.Unlock()
		if len(f.GetMetric()) == 0 {
			continue
		}
		if err := each(f); err != nil {
			return err
		}
	}
	return nil
}

// gone reports whether a gauge was taken away since its key was seen.
func (v *vector) gone(key string) bool {
	_, value := v.values[key]
	_, histogram := v.histograms[key]
	return !value && !histogram
}

// text writes the series in the text format.
func (g gatherer) text(w io.Writer) error {
	for _, v := range g.vectors {
		if err := v.text(w, g.further); err != nil {
			return err
		}
	}
	return nil
}

func (v *vector) text(w io.Writer, further []*dto.LabelPair) error {
	var lines bytes.Buffer
	begun := false
	return v.pieces(shape{further: further}, func(f *dto.MetricFamily) error {
		lines.Reset()
		if _, err := expfmt.MetricFamilyToText(&lines, f); err != nil {
			return err
		}
		if begun { // the name's help and type are said once
			for range 2 {
				_, _ = lines.ReadBytes('\n') // it is there: the text has just been written
			}
		}
		begun = true
		_, err := w.Write(lines.Bytes())
		return err
	})
}

// delimited returns the series as a Pushgateway reads them: protocol buffers,
// each after its length.
func (g gatherer) delimited() ([]byte, error) {
	size := 0
	for _, v := range g.vectors {
		size += v.about(g.further)
	}
	all := make([]byte, 0, size) // at once: to grow would take it twice
	for _, v := range g.vectors {
		var err error
		if all, err = v.delimited(all, g.further); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// delimited appends the vector as one message, after its length. The pieces
// of a message, encoded one after the other, are the message.
func (v *vector) delimited(to []byte, further []*dto.LabelPair) ([]byte, error) {
	begin := len(to)
	err := v.pieces(shape{further: further}, func(f *dto.MetricFamily) error {
		if len(to) > begin { // the name's help and type are said once
			f.Name, f.Help, f.Type = nil, nil, nil
		}
		var err error
		to, err = proto.MarshalOptions{}.MarshalAppend(to, f)
		return err
	})
	if err != nil || len(to) == begin {
		return to, err
	}
	var length [binary.MaxVarintLen64]byte
	n := binary.PutUvarint(length[:], uint64(len(to)-begin))
	return slices.Insert(to, begin, length[:n]...), nil
}

// about is how many bytes the vector has in protocol buffers, rather more than
// less.
func (v *vector) about(further []*dto.LabelPair) int {
	const head, series, label, histogram, classic = 32, 16, 6, 160, 24
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.values)+len(v.histograms) == 0 {
		return 0
	}
	each := series
	for _, name := range v.labels {
		each += label + len(name)
	}
	for _, p := range further {
		each += label + len(p.GetName()) + len(p.GetValue())
	}
	size := head + len(v.name) + len(v.help) + each*len(v.values)
	for key := range v.values {
		size += len(key)
	}
	for key := range v.histograms {
		size += each + len(key) + histogram + classic*len(v.bounds)
	}
	return size
}
