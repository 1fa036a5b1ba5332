//! A chart of a benchmark: one pair of bars for each case, ours above the bare path's.

use anyhow::{Result, anyhow};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// One case of a benchmark.
pub struct Bars {
    /// What is measured.
    pub case: String,
    /// Millions a second.
    pub ours: f64,
    /// The same of the bare path, where there is one.
    pub bare: Option<f64>,
}

const WIDTH: u32 = 860;
/// Height of one case, and of what is above and below all of them.
const CASE: u32 = 52;
const FRAME: u32 = 84;
/// Room for the names of the cases, and for the figures behind the bars.
const NAMES: u32 = 290;
const FIGURES: f64 = 1.3;

const OURS: RGBColor = RGBColor(11, 114, 133);
const BARE: RGBColor = RGBColor(166, 178, 189);
const TEXT: RGBColor = RGBColor(20, 32, 43);

/// Draws the chart as SVG. Text is not measured with a font, so that none is needed; the reader's browser picks one.
///
/// # Errors
/// What the drawing library says.
pub fn svg(title: &str, unit: &str, cases: &[Bars]) -> Result<String> {
    let mut text = String::new();
    draw(&mut text, title, unit, cases)
        .map_err(|error| anyhow!("the chart of {title} cannot be drawn: {error}"))?;
    Ok(text)
}

fn draw(
    text: &mut String,
    title: &str,
    unit: &str,
    cases: &[Bars],
) -> Result<(), Box<dyn std::error::Error>> {
    let count = u32::try_from(cases.len())?;
    let most =
        cases.iter().map(|bars| bars.ours.max(bars.bare.unwrap_or(0.0))).fold(f64::MIN_POSITIVE, f64::max);
    let area = SVGBackend::with_string(text, (WIDTH, FRAME + CASE * count)).into_drawing_area();
    area.fill(&WHITE)?;
    let words = |size: u32, color: RGBColor| ("sans-serif", size).into_font().color(&color);
    // A case is one unit high; the first is at the top.
    let mut chart = ChartBuilder::on(&area)
        .caption(title, words(17, TEXT))
        .margin(10)
        .set_label_area_size(LabelAreaPosition::Left, NAMES)
        .set_label_area_size(LabelAreaPosition::Bottom, 34)
        .build_cartesian_2d(0.0..most * FIGURES, f64::from(count)..0.0)?;
    chart
        .configure_mesh()
        .disable_y_mesh()
        .disable_y_axis()
        .light_line_style(TRANSPARENT)
        .x_labels(6)
        .x_desc(unit)
        .label_style(words(12, TEXT))
        .draw()?;
    let right = words(13, TEXT).pos(Pos::new(HPos::Right, VPos::Center));
    let left = words(12, TEXT).pos(Pos::new(HPos::Left, VPos::Center));
    for (at, bars) in (0u32..).zip(cases) {
        let top = f64::from(at);
        chart.draw_series([Text::new(bars.case.clone(), (-most * 0.01, top + 0.5), right.clone())])?;
        let pair = [(0.14, OURS, Some(bars.ours), "wirelake"), (0.52, BARE, bars.bare, "bare")];
        for (offset, color, value, who) in pair {
            let Some(value) = value else { continue };
            let corners = [(0.0, top + offset), (value, top + offset + 0.32)];
            chart.draw_series([Rectangle::new(corners, color.filled())])?;
            let figure = format!("{value:.3} {who}");
            chart.draw_series([Text::new(
                figure,
                (value + most * 0.01, top + offset + 0.16),
                left.clone(),
            )])?;
        }
    }
    area.present()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_as_long_as_their_figures() {
        let cases = [
            Bars { case: "one <case> & more".to_owned(), ours: 1.0, bare: Some(4.0) },
            Bars { case: "another".to_owned(), ours: 2.0, bare: None },
        ];
        let text = svg("decode", "million messages a second", &cases).unwrap();
        assert!(text.starts_with("<svg") && text.trim_end().ends_with("</svg>"), "{text}");
        assert!(text.contains("one &lt;case&gt; &amp; more"), "{text}");
        // Three bars, of 1, 4 and 2.
        let widths: Vec<f64> = text
            .lines()
            .filter(|line| line.contains("<rect") && (line.contains("#0B7285") || line.contains("#A6B2BD")))
            .filter_map(|line| line.split_once("width=\"")?.1.split('"').next()?.parse().ok())
            .collect();
        assert_eq!(widths.len(), 3, "{text}");
        assert!(
            (widths[1] / widths[0] - 4.0).abs() < 0.1 && (widths[2] / widths[0] - 2.0).abs() < 0.1,
            "{widths:?}"
        );
    }
}
