//! Pixels as a PNG file.

use crate::base::error::{Error, Result};

/// Encodes red, green, blue and alpha of each pixel; the window has no holes, so alpha is left out.
pub fn png(size: [usize; 2], rgba: &[u8]) -> Result<Vec<u8>> {
    let rgb: Vec<u8> = rgba.chunks_exact(4).flat_map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect();
    encode(size, png::ColorType::Rgb, &rgb)
}

/// The same with alpha, for pictures that let others show through.
pub fn rgba_png(size: [usize; 2], rgba: &[u8]) -> Result<Vec<u8>> {
    encode(size, png::ColorType::Rgba, rgba)
}

fn encode(size: [usize; 2], colours: png::ColorType, values: &[u8]) -> Result<Vec<u8>> {
    let failed = |error: png::EncodingError| {
        Error::unsuitable("the picture", error.to_string(), "choose a smaller size and try again")
    };
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, size[0] as u32, size[1] as u32);
    encoder.set_color(colours);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header().map_err(failed)?;
    writer.write_image_data(values).map_err(failed)?;
    writer.finish().map_err(failed)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_keeps_its_size_and_colours_and_a_short_one_is_refused() {
        let bytes = png([2, 1], &[255, 0, 0, 255, 0, 0, 255, 255]).unwrap();
        let mut reader = png::Decoder::new(std::io::Cursor::new(&bytes)).read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut pixels).unwrap();
        assert_eq!((info.width, info.height), (2, 1));
        assert_eq!(&pixels[..6], [255, 0, 0, 0, 0, 255]);
        assert!(png([2, 2], &[0; 4]).is_err());
    }
}
