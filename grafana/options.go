package grafana

import (
	"github.com/grafana/grafana-foundation-sdk/go/bargauge"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/heatmap"
	"github.com/grafana/grafana-foundation-sdk/go/stat"
	"github.com/grafana/grafana-foundation-sdk/go/statetimeline"
	"github.com/grafana/grafana-foundation-sdk/go/timeseries"
)

// joined is how long a state lasts for which nothing new is known: a probe that
// is due each hour says nothing in between.
const joined = 3 * 60 * 60 * 1000 // milliseconds

// options are the panel's own settings.
func (p panel) options() any {
	switch p.look {
	case lookStat:
		return p.statOptions()
	case lookStates:
		o := statetimeline.NewOptions()
		o.RowHeight, o.PerPage = 0.8, nil
		o.Legend, o.Tooltip = legend(), tooltip()
		return o
	case lookGauges:
		o := bargauge.NewOptions()
		o.DisplayMode, o.Orientation = common.BarGaugeDisplayModeBasic, common.VizOrientationHorizontal
		o.NamePlacement = common.BarGaugeNamePlacementLeft
		o.Legend, o.ReduceOptions = legend(), lastValue()
		o.Legend.ShowLegend = false
		return o
	case lookHeat:
		return p.heatOptions()
	default:
		o := timeseries.NewOptions()
		o.Legend, o.Tooltip = legend(), tooltip()
		return o
	}
}

func (p panel) statOptions() any {
	o := stat.NewOptions()
	o.GraphMode, o.ColorMode = common.BigValueGraphModeNone, common.BigValueColorModeBackgroundSolid
	o.ReduceOptions, o.Orientation = lastValue(), common.VizOrientationAuto
	if p.style.plain {
		o.ColorMode = common.BigValueColorModeValue
	}
	if p.style.spark {
		o.GraphMode = common.BigValueGraphModeArea
	}
	if p.style.names {
		o.TextMode = common.BigValueTextModeValueAndName
	}
	return o
}

func (p panel) heatOptions() any {
	o := heatmap.NewOptions()
	o.Color.Mode, o.Color.Scale = new(heatmap.HeatmapColorModeScheme), new(heatmap.HeatmapColorScaleExponential)
	o.Color.Scheme, o.Color.Reverse = "Blues", false
	o.YAxis.Unit, o.YAxis.AxisPlacement = new(p.unit), new(common.AxisPlacementLeft)
	o.YAxis.ScaleDistribution = &common.ScaleDistributionConfig{Type: common.ScaleDistributionLog, Log: new(10.0)}
	o.ShowValue, o.CellValues = common.VisibilityModeNever, &heatmap.CellValues{Unit: new("short")}
	o.Tooltip.Mode, o.Tooltip.YHistogram = common.TooltipDisplayModeSingle, new(true)
	return o
}

// custom are the settings of each series.
func (p panel) custom() any {
	switch p.look {
	case lookSeries:
		return p.lines()
	case lookStates:
		c := statetimeline.NewFieldConfig()
		c.FillOpacity, c.LineWidth = new(uint32(85)), new(uint32(0))
		c.SpanNulls = &statetimeline.BoolOrUint32{Uint32: new(uint32(joined))}
		return c
	case lookHeat:
		return heatmap.NewFieldConfig()
	default:
		return nil
	}
}

func (p panel) lines() *timeseries.FieldConfig {
	c := &timeseries.FieldConfig{
		DrawStyle: new(common.GraphDrawStyleLine), LineWidth: new(2.0), FillOpacity: new(0.0),
		LineInterpolation: new(common.LineInterpolationLinear), ShowPoints: new(common.VisibilityModeNever),
		SpanNulls: &common.BoolOrFloat64{Float64: new(float64(joined))},
	}
	if p.style.bars {
		c.DrawStyle, c.FillOpacity, c.LineWidth = new(common.GraphDrawStyleBars), new(85.0), new(0.0)
		c.SpanNulls, c.BarAlignment = nil, new(common.BarAlignmentBefore)
	}
	if p.style.stacked {
		c.FillOpacity, c.LineWidth = new(60.0), new(1.0)
	}
	if p.style.bars || p.style.stacked {
		c.Stacking = &common.StackingConfig{Mode: new(common.StackingModeNormal), Group: new("A")}
	}
	if p.style.lines {
		c.ThresholdsStyle = &common.GraphThresholdsStyleConfig{Mode: common.GraphThresholdsStyleModeDashed}
	}
	if p.style.log {
		c.ScaleDistribution = &common.ScaleDistributionConfig{Type: common.ScaleDistributionLog, Log: new(10.0)}
	}
	return c
}

func legend() common.VizLegendOptions {
	return common.VizLegendOptions{
		DisplayMode: common.LegendDisplayModeList, Placement: common.LegendPlacementBottom,
		ShowLegend: true, Calcs: []string{},
	}
}

func tooltip() common.VizTooltipOptions {
	return common.VizTooltipOptions{
		Mode: common.TooltipDisplayModeMulti, Sort: common.SortOrderDescending, HideZeros: new(true),
	}
}

func lastValue() common.ReduceDataOptions {
	return common.ReduceDataOptions{Calcs: []string{"lastNotNull"}, Fields: new(""), Values: new(false)}
}
