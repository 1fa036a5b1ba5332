pub struct Counting;
