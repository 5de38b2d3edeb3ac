//! Bessel functions of real numbers.

use super::calc::ScalarBuilder;
use spirula_program::ScalarOp;
use spirula_tensor::ir::ScalarNode;

impl ScalarBuilder<'_> {
    /// The modified Bessel function of the first kind and first order, times `e^-|x|`. Up to 8 it
    /// is a Chebyshev series of `f(x)/x`, above 8 one of `f(x) sqrt(x)`.
    pub fn bessel_i1e(&mut self, x: ScalarNode) -> ScalarNode {
        let size = self.abs(x);
        let t = self.mul_constant(size, 0.25);
        let t = self.add_constant(t, -1.0);
        let near = self.evaluate_chebyshev(t, &NEAR);
        let near = self.mul(near, x);
        let sixteen = self.constant_like(x, 16.0);
        let t = self.div(sixteen, size);
        let t = self.add_constant(t, -1.0);
        let far = self.evaluate_chebyshev(t, &FAR);
        let root = self.apply_unary(ScalarOp::Sqrt, size);
        let far = self.div(far, root);
        let far = self.copy_sign(far, x);
        let eight = self.constant_like(x, 8.0);
        let is_near = self.le(size, eight);
        self.select(is_near, near, far)
    }

    /// A Chebyshev series by Clenshaw's recurrence.
    fn evaluate_chebyshev(&mut self, t: ScalarNode, coefficients: &[f64]) -> ScalarNode {
        let (mut last, mut before) = (self.constant_like(t, 0.0), self.constant_like(t, 0.0));
        let double = self.add(t, t);
        for coefficient in coefficients[1..].iter().rev() {
            let product = self.mul(double, last);
            let less = self.sub(product, before);
            before = last;
            last = self.add_constant(less, *coefficient);
        }
        let product = self.mul(t, last);
        let less = self.sub(product, before);
        self.add_constant(less, coefficients[0])
    }
}

/// `e^-x I1(x) / x` for x from 0 to 8, in `x/4 - 1`.
const NEAR: [f64; 30] = [
    0.12629359322181682,
    -0.17641651835783406,
    0.1026436586898471,
    -0.05294598120809499,
    0.024726449030626516,
    -0.010564084894626197,
    0.004156422944312888,
    -0.0015135724506312532,
    0.0005122859561685758,
    -0.00016176081582589674,
    4.781565107550054e-5,
    -1.3273163656039436e-5,
    3.4702513081376785e-6,
    -8.568720264695455e-7,
    2.0032947535521353e-7,
    -4.445059128796328e-8,
    9.381537386495773e-9,
    -1.8872497517228294e-9,
    3.625590281552117e-10,
    -6.663489723502027e-11,
    1.1736186298890901e-11,
    -1.9839743977649436e-12,
    3.223793365945575e-13,
    -5.042185504727912e-14,
    7.600684294735408e-15,
    -1.1055969477353862e-15,
    1.5536319577362005e-16,
    -2.111421214358166e-17,
    2.7779141127610464e-18,
    -3.541581772542136e-19,
];

/// `e^-x I1(x) sqrt(x)` for x from 8 on, in `16/x - 1`.
const FAR: [f64; 26] = [
    0.38928811750914005,
    -0.009761097491361469,
    -0.00011058893876262371,
    -3.882564808877691e-6,
    -2.512236237870209e-7,
    -2.6314688468895196e-8,
    -3.835380385964237e-9,
    -5.589743462196584e-10,
    -1.8974958123505413e-11,
    3.2526035830154884e-11,
    1.4125807436613782e-11,
    2.0356285441470896e-12,
    -7.198551776245908e-13,
    -4.0835511110921974e-13,
    -2.1015418427726643e-14,
    4.272440016711951e-14,
    1.0420276984128802e-14,
    -3.8144030724370075e-15,
    -1.8803547755107825e-15,
    3.3082023109209285e-16,
    2.96262899764595e-16,
    -3.209525921993424e-17,
    -4.6503053684893586e-17,
    4.414348323071708e-18,
    7.517296310842105e-18,
    -9.314178867326884e-19,
];
