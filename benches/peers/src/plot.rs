//! The plot of both evaluators by the length of sessions.

use plotters::prelude::{
    BLACK, ChartBuilder, IntoDrawingArea, IntoLogRange, LineSeries, PathElement, RGBColor, SVGBackend,
    SeriesLabelPosition, WHITE,
};

use crate::sequence_rules::Row;

pub fn plot(rows: &[Row]) -> String {
    let mut svg = String::new();
    draw(rows, &mut svg).expect("a plot in memory can be drawn");
    svg
}

fn draw(rows: &[Row], svg: &mut String) -> Result<(), Box<dyn std::error::Error>> {
    let area = SVGBackend::with_string(svg, (760, 420)).into_drawing_area();
    area.fill(&WHITE)?;
    let most = rows.iter().flat_map(|row| [row.assay, row.ours]).fold(1.0, f64::max);
    let mut chart = ChartBuilder::on(&area)
        .caption("Ten sequence rules of every kind: nanoseconds a call", ("sans-serif", 18))
        .margin(12)
        .x_label_area_size(40)
        .y_label_area_size(60)
        .build_cartesian_2d((10.0..100_000.0).log_scale(), 0.0..most)?;
    chart.configure_mesh().x_desc("calls in a session").y_desc("ns a call").draw()?;
    let kind = || rows.iter().filter(|row| row.rules == "of every kind");
    let lines = [
        ("Assay", RGBColor(200, 90, 30), kind().map(|row| (row.calls as f64, row.assay)).collect::<Vec<_>>()),
        ("Rulestep", RGBColor(30, 90, 200), kind().map(|row| (row.calls as f64, row.ours)).collect()),
    ];
    for (name, colour, points) in lines {
        chart
            .draw_series(LineSeries::new(points, colour))?
            .label(name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], colour));
    }
    chart.configure_series_labels().position(SeriesLabelPosition::UpperRight).border_style(BLACK).draw()?;
    area.present()?;
    Ok(())
}
