//! Keys in, model and effects out.

use crate::workbench::testing::*;

#[test]
fn look() {
    for (w, h) in [(120, 40), (80, 24), (58, 14), (40, 8), (39, 8)] {
        let mut model = opened(w, h, "mono", vec![refunds(), clean()]);
        press(&mut model, "]f");
        println!("{}", screen(&model));
    }
}
